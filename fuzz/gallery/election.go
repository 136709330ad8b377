package gallery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

var publishedElection = []Exhibit{
	{
		Slug: "every-newcomer-elected", Alias: "B5",
		Title:  "every newcomer is elected",
		Source: Report, Link: "https://github.com/python-zk/kazoo/issues/730",
		Bug: "An election on numbers that are compared as text. After the counter has wrapped each " +
			"new candidate has the smallest text and is leader at once, while the old one leads " +
			"on.",
		Property: linearizability.Safety,
		Wrong:    wrapped(electionOf(func(l *naked) { l.order = byText })),
		Right:    wrapped(electionOf(nil)),
	},
	{
		Slug: "leader-by-old-path", Alias: "B40",
		Title:  "leader by the path of an earlier session",
		Source: Report, Link: "https://github.com/apache/curator/issues/1211",
		Bug: "After a reconnect the latch finds its path first in the list and leads. The node is " +
			"an earlier session's and is removed a moment later, when somebody else is elected: " +
			"two lead, and nobody tells the first, whose session is well.",
		Property: scenario.InvariantProperty,
		Wrong: longTerms(func(l *naked) {
			l.confirm = func() error { return nil } // wrong: whose node it is is not asked
		}),
		Right:  longTerms(nil),
		Script: scenario.Script{Clients: 2, Rounds: 1},
	},
	{
		Slug: "closed-while-creating", Alias: "B43",
		Title:  "closed while its node is being made",
		Source: Report, Link: "https://github.com/apache/curator/issues/539",
		See: []string{"CURATOR-18", "Netflix/curator PR 274"},
		Bug: "A latch makes its node in the background. Close deletes the node that is known, and " +
			"there is none yet. The reply comes to a latch that is closed, and the node stays as " +
			"a candidate that will never lead.",
		Property: linearizability.Orphans,
		Wrong: standAndLeave(func(joined <-chan error, leave func() error) error {
			select {
			case <-joined:
				return leave()
			default:
				return nil // wrong: the node may be under way
			}
		}),
		Right: standAndLeave(func(joined <-chan error, leave func() error) error {
			if err := <-joined; err != nil {
				return err
			}
			return leave()
		}),
	},
	{
		Slug: "error-ends-requeue", Alias: "B46",
		Title:  "the first error ends the auto-requeue",
		Source: Report, Link: "https://github.com/apache/curator/issues/536",
		See: []string{"CURATOR-15", "CURATOR-16", "CURATOR-518", "S4-20"},
		Bug: "A loop in the background queues, leads, and queues again. An error while it queues, " +
			"or an interrupt, ends the loop without a word, and this candidate is never elected " +
			"again.",
		Property: linearizability.Liveness,
		Wrong:    openElection(func(ctx context.Context, c *zk.Conn) object.Elector { return newSelector(ctx, c, false) }),
		Right:    openElection(func(ctx context.Context, c *zk.Conn) object.Elector { return newSelector(ctx, c, true) }),
	},
	{
		Slug: "leader-gone-while-asked", Alias: "B48",
		Title:  "the leader goes while it is asked for",
		Source: Report, Link: "https://github.com/apache/curator/commit/3478aca7ed6852484b5574a6082f4bb75c04a1e0",
		Bug: "Who leads is found by two requests: a list, and the data of its first node. If the " +
			"leader resigns between the two that is a NoNode, which goes to a caller who has only " +
			"asked.",
		Property: scenario.InvariantProperty,
		Wrong:    askForLeader(func(error) bool { return false }), // wrong: somebody else may lead now
		Right:    askForLeader(func(err error) bool { return errors.Is(err, zk.ErrNoNode) }),
	},
	{
		Slug: "peer-leaving-fails-election", Alias: "B52",
		Title:  "any peer that leaves fails the election of another",
		Source: Code, Link: "https://github.com/apache/zookeeper/blob/release-3.9.5/zookeeper-recipes/zookeeper-recipes-election/src/main/java/org/apache/zookeeper/recipes/leader/LeaderElectionSupport.java#L310",
		Bug: "LeaderElectionSupport reads the data of every offer in the list. One that is gone by " +
			"then is a NoNode that nobody expects: the candidate fails, and its own offer stays " +
			"in front of all later ones.",
		Property: linearizability.Liveness,
		Wrong: openElection(func(_ context.Context, c *zk.Conn) object.Elector {
			return candidate{failing(remade(c, lockDir, readEveryOffer))}
		}),
	},
}

// candidate is a naked lock as an election: who owns it leads.
type candidate struct{ *naked }

func (c candidate) Lead(ctx context.Context) error   { return c.Lock(ctx) }
func (c candidate) Resign(ctx context.Context) error { return c.Unlock(ctx) }
func (c candidate) Close(ctx context.Context) error  { return c.Unlock(ctx) }

// electionOf is a workload of an election by a naked lock with some steps replaced.
func electionOf(replace func(*naked)) scenario.Workload {
	return openElection(func(_ context.Context, c *zk.Conn) object.Elector { return candidate{remade(c, lockDir, replace)} })
}

// openElection is a workload of any election at /lock. What goes on in the background
// ends with the context that open gets.
func openElection(open func(context.Context, *zk.Conn) object.Elector) scenario.Workload {
	claims := claims
	claims.MaxHerd = 1
	under := func(ctx context.Context) scenario.Workload {
		return object.Election(func(env object.Env) object.Elector { return open(ctx, env.Conn) }, claims).Named("")
	}
	w := beside(under(nil), lockDir)
	w.Play = func(p *scenario.Player, s scenario.Script) { under(p.Context()).Play(p, s) }
	return w
}

// longTerms is a workload of an election in which each leads for longer than a dead
// session's nodes stay.
func longTerms(replace func(*naked)) scenario.Workload {
	const term = 15 * time.Second
	w := electionOf(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		c := candidate{remade(p.Conn(), lockDir, replace)}
		for range s.Rounds {
			if p.Persist(func(int) error { return lead(p, c) }) {
				p.Pause(term)
				p.Attempt(3, func(int) error { return resign(p, c) })
			}
		}
	}
	w.Length = func(s scenario.Script) time.Duration { return time.Duration(s.Clients*s.Rounds) * term }
	return judgedBy(w, "one leads at a time", twoLead)
}

func lead(p *scenario.Player, c candidate) error {
	return p.Do(ops.Lead, "", func(ctx context.Context) (linearizability.Result, error) {
		err := c.Lead(ctx)
		return linearizability.Result{Token: c.Token()}, err
	})
}

func resign(p *scenario.Player, c candidate) error {
	return p.Do(ops.Resign, "", func(ctx context.Context) (linearizability.Result, error) {
		return linearizability.Result{}, c.Resign(ctx)
	})
}

// twoLead says who is elected while another leads whose session is alive.
func twoLead(e scenario.Evidence) error {
	return together(e.History, func(op linearizability.Op) bool { return op.Kind == ops.Lead },
		func(op linearizability.Op) bool { return op.Kind == ops.Resign })
}

// standAndLeave is a workload of candidates that stand, in the background, and close
// after some milliseconds.
func standAndLeave(closing func(joined <-chan error, leave func() error) error) scenario.Workload {
	w := electionOf(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for round := range s.Rounds {
			l := newNaked(p.Conn(), lockDir)
			joined := make(chan error, 1)
			go func() { joined <- l.join() }()
			p.Pause(time.Duration(1+p.Choose(scenario.At("pause", round), 30)) * time.Millisecond)
			_ = p.Do(ops.Resign, "", func(context.Context) (linearizability.Result, error) {
				return linearizability.Result{}, closing(joined, l.leave)
			})
		}
	}
	return w
}

// selector leads in turns, in the background.
type selector struct {
	life   context.Context
	stop   context.CancelFunc
	conn   *zk.Conn
	goesOn bool // after an error

	begun  bool
	turns  chan struct{} // sent to by each turn as it begins
	resign chan struct{} // received from by each turn
	over   chan error    // what came of its end
	leads  bool
}

func newSelector(ctx context.Context, c *zk.Conn, goesOn bool) *selector {
	s := &selector{conn: c, goesOn: goesOn, turns: make(chan struct{}), resign: make(chan struct{}), over: make(chan error, 1)}
	s.life, s.stop = context.WithCancel(ctx)
	return s
}

// requeue is the loop.
func (s *selector) requeue() {
	for s.life.Err() == nil {
		l := newNaked(s.conn, lockDir)
		if err := s.turn(l); err != nil && !s.goesOn {
			return // wrong: for ever
		}
	}
}

// turn queues, and leads until it is told to resign.
func (s *selector) turn(l *naked) error {
	for s.life.Err() == nil {
		if err := l.join(); err != nil {
			return err
		}
		ahead, err := l.look()
		if err != nil {
			return errors.Join(err, l.leave())
		}
		if ahead == "" {
			return s.lead(l)
		}
		l.await(s.life, ahead)
	}
	return l.leave()
}

func (s *selector) lead(l *naked) error {
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

// askForLeader is a workload of an election whose candidates ask who leads before and
// after they do; again tells of which errors they look again.
func askForLeader(again func(error) bool) scenario.Workload {
	w := electionOf(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for range s.Rounds {
			c := candidate{newNaked(p.Conn(), lockDir)}
			whoLeads(p, again)
			if p.Persist(func(int) error { return lead(p, c) }) {
				p.Attempt(3, func(int) error { return resign(p, c) })
			}
			whoLeads(p, again)
		}
	}
	return judgedBy(w, "a call fails only with its connection", noOtherErrors)
}

func whoLeads(p *scenario.Player, again func(error) bool) {
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

func readEveryOffer(l *naked) {
	l.ahead = func(queue []string) (string, error) {
		for _, name := range queue {
			if _, _, err := l.conn.Get(l.path(name)); errors.Is(err, zk.ErrNoNode) {
				return "", fmt.Errorf("%w: %s is gone", errFailed, name) // wrong: it is none of its business
			}
		}
		return l.predecessor(queue)
	}
}

var plantedElections = []Exhibit{
	{
		Title: "stands twice when a reply is lost", Property: linearizability.Liveness,
		Wrong: electionOf(createsAgain),
	},
	{Title: "all watch the leader", Property: linearizability.Herd, Wrong: electionOf(awaitsFirst)},
	{
		Title: "leads through a dead session's node", Property: linearizability.Safety,
		Wrong: electionOf(ownsAnyNode),
	},
	{
		Title: "never looks who is first", Property: linearizability.Safety,
		Wrong: electionOf(neverLooks),
	},
	{
		Title: "forgets to resign", Property: linearizability.Liveness,
		Wrong: electionOf(func(l *naked) {
			l.leave = func() error { l.own = ""; return nil }
		}),
	},
	{
		Title: "never says that it is lost", Property: linearizability.Belief,
		Wrong: openElection(func(_ context.Context, c *zk.Conn) object.Elector {
			return silentCandidate{candidate{newNaked(c, lockDir)}, make(chan struct{})}
		}),
	},
	{
		Title: "tells an old leader", Property: linearizability.Answers,
		Wrong: latchOf(true), Right: latchOf(false),
	},
}

// silentCandidate has a signal of loss that never comes.
type silentCandidate struct {
	candidate
	lost chan struct{}
}

func (c silentCandidate) Lost() <-chan struct{} { return c.lost }

// latch is a leader latch for each turn, which can tell who leads.
type latch struct {
	conn   *zk.Conn
	name   string
	stale  bool // it tells the first leader that it has heard of, for ever
	answer recipes.Candidate
	*recipes.LeaderLatch
	term *recipes.Term
}

func latchOf(stale bool) scenario.Workload {
	return object.Election(func(env object.Env) object.Elector {
		return &latch{conn: env.Conn, name: env.Name, stale: stale}
	}).Named("")
}

func (l *latch) Lead(ctx context.Context) error {
	if l.LeaderLatch == nil {
		l.LeaderLatch = recipes.NewLeaderLatch(l.conn, "/election", l.name)
		if err := l.Start(); err != nil {
			return err
		}
	}
	term, err := l.Await(ctx)
	if err == nil {
		l.term = term
	}
	return err
}

func (l *latch) Token() int64                     { return l.term.Epoch() }
func (l *latch) Lost() <-chan struct{}            { return l.term.Lost() }
func (l *latch) Resign(ctx context.Context) error { return l.Close(ctx) }

func (l *latch) Close(ctx context.Context) error {
	if err := l.LeaderLatch.Close(ctx); err != nil {
		return err
	}
	l.LeaderLatch = nil
	return nil
}

func (l *latch) Leader(ctx context.Context) (string, int64, error) {
	if l.answer.Epoch == 0 || !l.stale {
		asker := recipes.NewLeaderLatch(l.conn, "/election", l.name)
		leader, _, err := asker.Leader(ctx)
		if err != nil {
			return "", 0, err
		}
		l.answer = leader
	}
	return l.answer.ID, l.answer.Epoch, nil
}
