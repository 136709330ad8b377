package gallery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

var publishedElection = []Exhibit{
	{Slug: "every-newcomer-elected", Alias: "B5", Title: "every newcomer is elected",
		Source: Report, Link: "https://github.com/python-zk/kazoo/issues/730",
		Bug: "An election on numbers that are compared as text. After the counter has wrapped " +
			"each new candidate has the smallest text and is leader at once, while the old one " +
			"leads on.",
		Property: safety, Wrong: wrapped(electionOf(func(l *plainLock) { l.order = byText })),
		Right: wrapped(electionOf())},
	{Slug: "leader-by-old-path", Alias: "B40", Title: "leader by the path of an earlier session",
		Source: Report, Link: "https://github.com/apache/curator/issues/1211",
		Bug: "After a reconnect the latch finds its path first in the list and leads. The node " +
			"is an earlier session's and is removed a moment later, when another candidate is " +
			"elected. Both lead, and the first is not told, as its session is well.",
		Property: invariant, Wrong: longTerms(ownsAnyNode), Right: longTerms(),
		Script: scenario.Script{Clients: 2, Rounds: 1}},
	{Slug: "closed-while-creating", Alias: "B43", Title: "closed while its node is being made",
		Source: Report, Link: "https://github.com/apache/curator/issues/539",
		See: []string{"CURATOR-18", "Netflix/curator PR 274"},
		Bug: "A latch makes its node in the background. Close deletes the node that is known, " +
			"and there is none yet. The reply comes to a latch that is closed, and the node " +
			"stays as a candidate that will never lead.",
		Property: orphans,
		Wrong: candidatesThatClose(func(joined <-chan error, l *plainLock) error {
			select {
			case <-joined:
				return l.leave()
			default:
				return nil // wrong: the node may be under way
			}
		}), Right: candidatesThatClose(func(joined <-chan error, l *plainLock) error {
			if err := <-joined; err != nil {
				return err
			}
			return l.leave()
		})},
	{Slug: "error-ends-requeue", Alias: "B46", Title: "the first error ends the auto-requeue",
		Source: Report, Link: "https://github.com/apache/curator/issues/536",
		See: []string{"CURATOR-15", "CURATOR-16", "CURATOR-518", "S4-20"},
		Bug: "A loop in the background queues, leads, and queues again. An error while it " +
			"queues, or an interrupt, ends the loop without a word, and this candidate is never " +
			"elected again.",
		Property: liveness, Wrong: selectorOf(false), Right: selectorOf(true)},
	{Slug: "leader-gone-while-asked", Alias: "B48", Title: "the leader goes during the question",
		Source: Report, Link: "https://github.com/apache/curator/commit/3478aca7ed6852484b5574a6082f4bb75c04a1e0",
		Bug: "The leader is found by two requests: a list, and the data of its first node. If " +
			"the leader resigns between the two that is a NoNode, which goes to a caller that " +
			"has only asked.",
		Property: invariant,
		Wrong:    askForLeader(func(error) bool { return false }), // wrong: it may be a new one
		Right:    askForLeader(func(err error) bool { return errors.Is(err, zk.ErrNoNode) })},
	{Slug: "peer-leaving-fails-election", Alias: "B52",
		Title:  "any peer that leaves fails the election of another",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-election/src/main/java/org/apache/zookeeper/recipes/leader/LeaderElectionSupport.java#L310",
		See: []string{"dcos/dcos-go"},
		Bug: "LeaderElectionSupport reads the data of every offer in the list. An offer that is " +
			"gone by then is an unexpected NoNode: the candidate fails, and its own offer stays " +
			"in front of all later ones.",
		Property: liveness, Wrong: electionOf(failing, func(l *plainLock) {
			l.ahead = func(queue []string) (string, error) {
				for _, name := range queue {
					if _, _, err := l.conn.Get(l.path(name)); errors.Is(err, zk.ErrNoNode) {
						return "", fmt.Errorf("%w: %s is gone", errFailed, name) // wrong: it may go
					}
				}
				return l.predecessor(queue)
			}
		})},
	{Slug: "leader-deaf-to-expiry", Title: "the leader's watch tells of a deletion only",
		Source: Code, Link: "https://github.com/Comcast/go-leaderelection/blob/1d7a4eade3f50080e91c243c4ba9057d14b38128/Election.go#L543-L554",
		Bug: "A leader watches its own node, and is told of its deletion. When its session ends " +
			"the watch ends with another event, on which the goroutine returns. Unless another " +
			"watch has told it first, the leader leads on, beside the next one.",
		Property: belief, Wrong: watchedTerms(func(event zk.Event) bool {
			return event.Type == zk.EventNodeDeleted // wrong: the watch is gone
		}), Right: watchedTerms(func(zk.Event) bool { return true })},
	{Slug: "stands-once", Title: "a candidate stands once and for all",
		Source: Code, Link: "https://github.com/mausimag/supervisor/blob/7882ca1d8b7d35da72655a35c127350429de68da/election.go#L70-L129",
		Bug: "A candidate makes its node when it starts, and looks after each change whether its " +
			"node is the first. Its node goes with its session, and it does not make another: " +
			"it goes on looking, and is never elected.",
		Property: liveness, Wrong: electionOf(func(l *plainLock) {
			l.ahead = func(queue []string) (string, error) {
				ahead, err := l.predecessor(queue)
				if errors.Is(err, errGone) {
					return l.own, nil // wrong: it does not come back
				}
				return ahead, err
			}
			l.await = func(ctx context.Context, ahead string) bool {
				if ahead != l.own {
					return l.awaitDeletion(ctx, ahead)
				}
				if _, _, change, err := l.conn.ChildrenW(l.dir); err == nil {
					await(ctx, change)
				}
				return false
			}
		})},
	{Slug: "numbers-of-16-bits", Title: "numbers above 32,767 are all the same",
		Source: Code, Link: "https://github.com/mausimag/supervisor/blob/7882ca1d8b7d35da72655a35c127350429de68da/election.go#L37-L40",
		Bug: "The number at the end of a name is parsed as one of 16 bits, and an error gives " +
			"the greatest of them. After 32,767 candidates all are equal. Each candidate may " +
			"find itself the first.",
		Property: safety, Wrong: manyOldChildren(electionOf(func(l *plainLock) {
			l.order = func(a, b string) int {
				x, _ := sequence(a)
				y, _ := sequence(b)
				return int(min(x, math.MaxInt16) - min(y, math.MaxInt16)) // wrong: there are more
			}
		})), Right: manyOldChildren(electionOf())},
}

// manyOldChildren is a workload in a directory that has had some 32,000 children.
func manyOldChildren(w scenario.Workload) scenario.Workload {
	w.Next = map[string]int32{lockDir: math.MaxInt16 - 1}
	return w
}

// watchedTerms is a workload of leaders that watch their node. lost reports whether an event of
// that watch is told.
func watchedTerms(lost func(zk.Event) bool) scenario.Workload {
	return openElection(func(l *plainLock) object.Elector {
		return &watchedTerm{candidate: candidate{l}, loses: lost}
	})
}

type watchedTerm struct {
	candidate
	loses func(zk.Event) bool
	lost  chan struct{}
}

func (t *watchedTerm) Lead(ctx context.Context) error {
	if err := t.candidate.Lead(ctx); err != nil {
		return err
	}
	there, _, change, err := t.conn.ExistsW(t.path(t.own))
	if err == nil && !there {
		err = errGone
	}
	if err != nil {
		return err
	}
	lost := make(chan struct{})
	t.lost = lost
	go func() {
		if t.loses(<-change) {
			close(lost)
		}
	}()
	return nil
}

func (t *watchedTerm) Lost() <-chan struct{} { return t.lost }

// candidate is a plain lock as an election: its owner leads.
type candidate struct{ *plainLock }

func (c candidate) Lead(ctx context.Context) error   { return c.Lock(ctx) }
func (c candidate) Resign(ctx context.Context) error { return c.Unlock(ctx) }
func (c candidate) Close(ctx context.Context) error  { return c.Unlock(ctx) }

// electionOf is a workload of an election by a plain lock with some steps replaced.
func electionOf(steps ...func(*plainLock)) scenario.Workload {
	return openElection(func(l *plainLock) object.Elector { return candidate{with(l, steps)} })
}

// openElection is a workload of any election at /lock that is made of a plain lock.
func openElection(open func(*plainLock) object.Elector) scenario.Workload {
	return beside(object.Election(func(env object.Env) object.Elector {
		return open(newLock(env.Conn, lockDir))
	}, oneWaiterWoken), lockDir)
}

// longTerms is a workload of an election with terms that are longer than the nodes of a dead
// session stay.
func longTerms(steps ...func(*plainLock)) scenario.Workload {
	const term = 15 * time.Second
	w := electionOf()
	w.Play = func(p *scenario.Player, s scenario.Script) {
		l := newLock(p.Conn(), lockDir, steps...)
		for range s.Rounds {
			if playLock(p, l, ops.Lead, "") {
				p.Pause(term)
				playUnlock(p, l, ops.Resign, "")
			}
		}
	}
	w.Length = func(s scenario.Script) time.Duration {
		return time.Duration(s.Clients*s.Rounds) * term
	}
	return judgedBy(w, "one leads at a time", func(e scenario.Evidence) error {
		return overlappingHolds(e.History,
			func(op linearizability.Op) bool { return op.Kind == ops.Lead },
			func(op linearizability.Op) bool { return op.Kind == ops.Resign })
	})
}

// candidatesThatClose is a workload of candidates that stand in the background, and close after
// some milliseconds.
func candidatesThatClose(closing func(joined <-chan error, l *plainLock) error) scenario.Workload {
	return playing(electionOf(), func(p *scenario.Player, round int) {
		l := newLock(p.Conn(), lockDir)
		joined := make(chan error, 1)
		go func() { joined <- l.join() }()
		p.Pause(time.Duration(1+p.Choose(scenario.At("pause", round), 30)) * time.Millisecond)
		_ = do(p, ops.Resign, "", func(context.Context) error { return closing(joined, l) })
	})
}

// selector leads in turns, in the background.
type selector struct {
	life                context.Context
	stop                context.CancelFunc
	conn                *zk.Conn
	continuesAfterError bool

	begun  bool
	turns  chan struct{} // sent to by each turn as it begins
	resign chan struct{} // received from by each turn
	over   chan error    // the error of each end
	leads  bool
}

// selectorOf is a workload of selectors. They end with the World.
func selectorOf(goesOn bool) scenario.Workload {
	within := func(life context.Context) scenario.Workload {
		return openElection(func(l *plainLock) object.Elector {
			s := &selector{conn: l.conn, continuesAfterError: goesOn, over: make(chan error, 1)}
			s.turns, s.resign = make(chan struct{}), make(chan struct{})
			s.life, s.stop = context.WithCancel(life)
			return s
		})
	}
	w := within(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) { within(p.Context()).Play(p, s) }
	return w
}

// requeue is the loop.
func (s *selector) requeue() {
	for s.life.Err() == nil {
		if err := s.turn(); err != nil && !s.continuesAfterError {
			return // wrong: for ever
		}
	}
}

// turn queues, and leads until it is told to resign.
func (s *selector) turn() error {
	l := newLock(s.conn, lockDir)
	l.fatal = func(error) bool { return true }
	if err := l.Lock(s.life); err != nil {
		return errors.Join(err, l.leave())
	}
	select {
	case s.turns <- struct{}{}:
	case <-s.life.Done():
		return l.leave()
	}
	select {
	case <-s.resign:
	case <-s.life.Done():
	}
	err := l.leave()
	s.over <- err
	return err
}

func (s *selector) Lead(ctx context.Context) error {
	if !s.begun {
		s.begun = true
		go s.requeue()
	}
	select {
	case <-s.turns:
		s.leads = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *selector) Resign(context.Context) error {
	if !s.leads {
		return nil
	}
	s.leads = false
	select {
	case s.resign <- struct{}{}:
	case <-s.life.Done():
	}
	return <-s.over
}

func (s *selector) Close(ctx context.Context) error {
	s.stop()
	return s.Resign(ctx)
}

// askForLeader is a workload of an election with candidates that ask for the leader before and
// after they lead. They ask again after some errors.
func askForLeader(again func(error) bool) scenario.Workload {
	return judgedBy(playing(electionOf(), func(p *scenario.Player, _ int) {
		l := newLock(p.Conn(), lockDir)
		askOnce(p, again)
		if playLock(p, l, ops.Lead, "") {
			playUnlock(p, l, ops.Resign, "")
		}
		askOnce(p, again)
	}), "a call fails only with its connection", noOtherErrors)
}

func askOnce(p *scenario.Player, again func(error) bool) {
	_ = p.Do(ops.Leader, "", func(context.Context) (linearizability.Result, error) {
		leader, err := firstNode(p.Conn())
		for again(err) {
			leader, err = firstNode(p.Conn())
		}
		return linearizability.Result{Output: leader, Empty: leader == ""}, err
	})
}

// firstNode is the first of the candidates' nodes, "" if there is none.
func firstNode(conn *zk.Conn) (string, error) {
	names, _, err := conn.Children(lockDir)
	if err != nil || len(names) == 0 {
		return "", err
	}
	first := slices.MinFunc(names, bySequence)
	_, _, err = conn.Get(lockDir + "/" + first)
	return first, err
}

var plantedElections = []Exhibit{
	planted("stands twice when a reply is lost", liveness, electionOf(createsAgain)),
	planted("all watch the leader", herd, electionOf(awaitsFirst)),
	planted("never looks who is first", safety, electionOf(neverLooks)),
	planted("forgets to resign", liveness, electionOf(func(l *plainLock) {
		l.leave = func() error { l.forget(); return nil }
	})),
	planted("never says that it is lost", belief, openElection(
		func(l *plainLock) object.Elector { return silentCandidate{candidate{l}} })),
	planted("tells an old leader", answers, object.Election(
		func(env object.Env) object.Elector {
			l := newLock(env.Conn, lockDir)
			l.data = []byte(env.Name)
			return &oldAnswer{candidate: candidate{l}}
		}, oneWaiterWoken)),
}

// silentCandidate has a signal of loss that never comes.
type silentCandidate struct{ candidate }

func (silentCandidate) Lost() <-chan struct{} { return make(chan struct{}) }

// oldAnswer always returns the first leader that it has heard of.
type oldAnswer struct {
	candidate
	leader string
	epoch  int64
}

func (c *oldAnswer) Leader(context.Context) (string, int64, error) {
	names, _, err := c.conn.Children(c.dir)
	if c.leader != "" || err != nil || len(names) == 0 {
		return c.leader, c.epoch, ignore(err, zk.ErrNoNode)
	}
	data, stat, err := c.conn.Get(c.path(slices.MinFunc(names, bySequence)))
	if err == nil {
		c.leader, c.epoch = string(data), stat.Czxid
	}
	return c.leader, c.epoch, ignore(err, zk.ErrNoNode)
}
