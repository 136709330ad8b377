package gallery

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var publishedTurnQueue = []Exhibit{
	{
		Slug: "persistent-place-in-line", Alias: "S4-22",
		Title:  "a place in line that outlives its member",
		Source: Text, Link: "https://github.com/python-zk/kazoo/blob/2.11.0/kazoo/recipe/lock.py#L158-L161",
		Bug: "The members' nodes are persistent. One whose turn it is dies before it has deleted " +
			"its node: no session's end does that for it, and all others wait for ever.",
		Property: linearizability.Liveness,
		Wrong: mortals(func(l *naked) {
			l.flags = zk.FlagSequence // wrong: nobody deletes it
			l.confirm = func() error { return nil }
		}),
		Right: mortals(nil),
	},
	{
		Slug: "vanished-predecessor", Alias: "S4-23",
		Title:  "the one ahead has just left",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-election/src/main/java/org/apache/zookeeper/recipes/leader/LeaderElectionSupport.java#L310",
		Bug: "A member reads the node ahead to watch it, and takes it for an error that there is " +
			"none: it ends, and its own node stays in the line. All who come later wait for it.",
		Property: linearizability.Liveness,
		Wrong: beside(object.TurnQueue(func(env object.Env) object.Locker {
			l := failing(newNaked(env.Conn, lockDir))
			l.ahead = func(queue []string) (string, error) {
				ahead, err := l.predecessor(queue)
				if ahead == "" || err != nil {
					return ahead, err
				}
				there, _, err := env.Conn.Exists(l.path(ahead))
				if err == nil && !there {
					err = errFailed // wrong: it may be one's turn
				}
				return ahead, err
			}
			return l
		}, claims).Named(""), lockDir),
	},
	{
		Slug: "watch-used-up", Alias: "S4-24",
		Title:  "a watch used up by another change",
		Source: Report, Link: "https://github.com/apache/kyuubi/pull/3543",
		Bug: "Whose turn it is notes that in its node. The watch of the next one fires for that, " +
			"is done, and is not set again: when the node is deleted nobody hears of it.",
		Property: linearizability.Liveness,
		Wrong: turnOf(func(l *naked) {
			l.confirm = l.confirmAndNote
			l.await = l.awaitDeparture // wrong: the watch fires once, for whatever
		}),
		Right: turnOf(func(l *naked) { l.confirm = l.confirmAndNote }),
	},
	{
		Slug: "place-before-missing", Alias: "S4-25",
		Title:  "the place before one that is not there",
		Source: Report, Link: "https://github.com/zk-ruby/zk/issues/55",
		Bug: "A member looks up its own node in the list, and the one before it. When its session " +
			"has ended meanwhile the own one is not there: its place is -1, and the one before " +
			"that is -2.",
		Property: "panic",
		Wrong: turnOf(func(l *naked) {
			l.ahead = func(queue []string) (string, error) {
				if i := slices.Index(queue, l.own); i != 0 {
					return queue[i-1], nil // wrong: -1
				}
				return "", l.confirm()
			}
		}),
	},
	{
		Slug: "deaf-to-session-end", Alias: "S4-27",
		Title:  "a loop that ends with an event only",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-election/src/main/java/org/apache/zookeeper/recipes/leader/LeaderElectionSupport.java#L327-L342",
		Bug: "A member sleeps until its watch has told that the node ahead is deleted. Its session " +
			"ends, with it the watch and its own node; it sleeps on, in a line in which it does " +
			"not stand.",
		Property: linearizability.Liveness,
		Wrong: turnOf(func(l *naked) {
			l.await = l.awaitDeparture // wrong: the session may end
		}),
	},
}

// turnOf is a workload of a line in which each waits for its turn, made of a naked lock
// with some steps replaced.
func turnOf(replace func(*naked)) scenario.Workload {
	open := func(env object.Env) object.Locker { return remade(env.Conn, lockDir, replace) }
	return beside(object.TurnQueue(open, claims).Named(""), lockDir)
}

// awaitDeparture waits for the deletion of the node ahead, and for no other event.
func (l *naked) awaitDeparture(ctx context.Context, ahead string) {
	_, _, change, err := l.conn.GetW(l.path(ahead))
	if err != nil {
		return
	}
	select {
	case ev := <-change:
		if ev.Type == zk.EventNodeDeleted {
			return
		}
		<-ctx.Done() // nothing else will come through the same watch
	case <-ctx.Done():
	}
}

// mortals is a workload of a line whose first member dies when it is its turn.
func mortals(replace func(*naked)) scenario.Workload {
	w := turnOf(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for range s.Rounds {
			l := remade(p.Conn(), lockDir, replace)
			if !p.Persist(func(int) error { return playLock(p, l, "") }) {
				return
			}
			if p.Index() == 0 {
				p.Conn().Close()
				return
			}
			playUnlock(p, l, "")
		}
	}
	w.Judge = scenario.Invariants()
	return w
}

// confirmAndNote confirms that the own node is this session's and notes in it that it
// is its turn.
func (l *naked) confirmAndNote() error {
	if err := l.confirmOwner(); err != nil {
		return err
	}
	_, err := l.conn.Set(l.path(l.own), []byte("its turn"), -1)
	return err
}

var plantedTurns = []Exhibit{
	{
		Title: "takes any news for its turn", Property: linearizability.Safety,
		Wrong: turnOf(ownsWhenWoken),
	},
	{
		Title: "does not make sure that it has left", Property: linearizability.Liveness,
		Wrong: turnOf(leavesCarelessly),
	},
	{
		Title: "joins again behind itself", Property: linearizability.Liveness,
		Wrong: turnOf(createsAgain),
	},
}
