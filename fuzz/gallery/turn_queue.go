package gallery

import (
	"context"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability/ops"
)

var publishedTurnQueue = []Exhibit{
	{Slug: "persistent-place-in-line", Alias: "S4-22",
		Title:  "a place in line that outlives its member",
		Source: Text, Link: "https://github.com/python-zk/kazoo/blob/2.11.0/kazoo/recipe/lock.py#L158-L161",
		Bug: "The members' nodes are persistent. A member dies in its turn, before it has " +
			"deleted its node. The end of its session does not delete it, and all others wait " +
			"for ever.",
		Property: liveness, Wrong: firstMemberDies(ownsAnyNode, func(l *plainLock) {
			l.flags = zk.FlagSequence // wrong: the node outlives its session
		}), Right: firstMemberDies()},
	{Slug: "vanished-predecessor", Alias: "S4-23", Title: "the one ahead has just left",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-election/src/main/java/org/apache/zookeeper/recipes/leader/LeaderElectionSupport.java#L310",
		Bug: "A member reads the node ahead to watch it, and takes it for an error that there is " +
			"none: it ends, and its own node stays in the line. All later members wait for it.",
		Property: liveness, Wrong: turnOf(failing, func(l *plainLock) {
			l.ahead = func(queue []string) (string, error) {
				ahead, err := l.predecessor(queue)
				if ahead == "" || err != nil {
					return ahead, err
				}
				there, _, err := l.conn.Exists(l.path(ahead))
				if err == nil && !there {
					err = errFailed // wrong: it may be the member's turn
				}
				return ahead, err
			}
		})},
	{Slug: "watch-used-up", Alias: "S4-24", Title: "a watch used up by another change",
		Source: Report, Link: "https://github.com/apache/kyuubi/pull/3543",
		Bug: "A member notes in its node that it is its turn. The watch of the next member fires " +
			"for that, and is not set again: the next member does not hear of the deletion.",
		Property: liveness,
		Wrong:    turnOf(notesItsTurn, awaitsDeletionOnly), // wrong: a watch fires once
		Right:    turnOf(notesItsTurn)},
	{Slug: "place-before-missing", Alias: "S4-25",
		Title:  "the place before one that is not there",
		Source: Report, Link: "https://github.com/zk-ruby/zk/issues/55",
		Bug: "A member looks up its own node in the list, and the one before it. When its " +
			"session has ended meanwhile the own one is not there: its place is -1, and the one " +
			"before that is -2.",
		Property: "panic", Wrong: turnOf(func(l *plainLock) {
			l.ahead = func(queue []string) (string, error) {
				if i := slices.Index(queue, l.own); i != 0 {
					return queue[i-1], nil // wrong: -1
				}
				return "", l.confirm()
			}
		})},
	{Slug: "deaf-to-session-end", Alias: "S4-27", Title: "a loop that ends with an event only",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-election/src/main/java/org/apache/zookeeper/recipes/leader/LeaderElectionSupport.java#L327-L342",
		Bug: "A member sleeps until its watch has told that the node ahead is deleted. Its " +
			"session ends, with it the watch and its own node; it sleeps on, in a line in which " +
			"it does not stand.",
		Property: liveness, Wrong: turnOf(awaitsDeletionOnly)}, // wrong: the session may end
	{Slug: "one-flag-for-all-waits", Alias: "S4-21", Title: "one flag for all waits of a process",
		Source: Ours, Remark: unreadArticle,
		Bug: "All watches of a process set one flag, which a waiting member asks for each " +
			"second, and which is never reset. After the first deletion no wait lasts: a member " +
			"lists and watches again and again, as fast as the server answers, for as long as " +
			"another has its turn.",
		Property: liveness, Says: "without a pause",
		Wrong: longTurns(func(l *plainLock) {
			flag := new(bool) // wrong: it stays set
			l.await = func(ctx context.Context, ahead string) bool {
				return l.awaitFlag(ctx, ahead, flag)
			}
		}), Right: longTurns(func(l *plainLock) {
			l.await = func(ctx context.Context, ahead string) bool {
				return l.awaitFlag(ctx, ahead, new(bool))
			}
		}), Script: scenario.Script{Clients: 2, Rounds: 2}},
}

// awaitFlag asks each second for a flag that any event of the node ahead sets.
func (l *plainLock) awaitFlag(ctx context.Context, ahead string, flag *bool) bool {
	_, _, change, err := l.conn.GetW(l.path(ahead))
	for err == nil && !*flag && ctx.Err() == nil {
		await(ctx, after(time.Second))
		select {
		case <-change:
			*flag = true
		default:
		}
	}
	return false
}

// longTurns is a workload of a line of members whose turns last for minutes.
func longTurns(step func(*plainLock)) scenario.Workload {
	const turn = 3 * time.Minute
	w := turnOf(step)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		l := newLock(p.Conn(), lockDir, step)
		for range p.Rounds(s.Rounds) {
			if playLock(p, l, ops.Lock, "") {
				p.Pause(turn)
				playUnlock(p, l, ops.Unlock, "")
			}
		}
	}
	w.Length = func(s scenario.Script) time.Duration {
		return time.Duration(s.Clients*s.Rounds) * 2 * turn
	}
	return w
}

// turnOf is a workload of a line of waiting members, made of a plain lock with some steps replaced.
func turnOf(steps ...func(*plainLock)) scenario.Workload {
	return beside(object.TurnQueue(func(env object.Env) object.Locker {
		return newLock(env.Conn, lockDir, steps...)
	}, claims), lockDir)
}

// awaitsDeletionOnly waits for the deletion of the node ahead, and for no other event.
func awaitsDeletionOnly(l *plainLock) {
	l.await = func(ctx context.Context, ahead string) bool {
		_, _, change, err := l.conn.GetW(l.path(ahead))
		if err != nil {
			return false
		}
		if event, _ := await(ctx, change); event.Type != zk.EventNodeDeleted {
			<-ctx.Done() // the watch is used up
		}
		return false
	}
}

// notesItsTurn writes into the own node that it is its turn.
func notesItsTurn(l *plainLock) {
	l.confirm = func() error {
		if err := l.confirmOwner(); err != nil {
			return err
		}
		_, err := l.conn.Set(l.path(l.own), []byte("its turn"), -1)
		return err
	}
}

// firstMemberDies is a workload of a line with a first member that dies in its turn.
func firstMemberDies(steps ...func(*plainLock)) scenario.Workload {
	w := turnOf()
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for range s.Rounds {
			l := newLock(p.Conn(), lockDir, steps...)
			if !playLock(p, l, ops.Lock, "") {
				return
			}
			if p.Index() == 0 {
				p.Conn().Close()
				return
			}
			playUnlock(p, l, ops.Unlock, "")
		}
	}
	return judgedByReturns(w)
}

var plantedTurns = []Exhibit{
	planted("takes any news for its turn", safety, turnOf(ownsWhenWoken)),
	planted("does not make sure that it has left", liveness, turnOf(leavesCarelessly)),
	planted("joins again behind itself", liveness, turnOf(createsAgain)),
}
