package museum

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

func deadRequeue() Exhibit {
	return Exhibit{
		ID: "B46", Title: "the first error ends the auto-requeue",
		Report: "https://github.com/apache/curator/issues/594", See: []string{"CURATOR-15", "CURATOR-16", "CURATOR-518", "S4-20"},
		Bug: "A loop in the background queues, leads, and queues again. An error while it queues, or an interrupt, ends the " +
			"loop without a word, and this candidate is never elected again.",
		Property: linearizability.Liveness,
		Wrong:    openElection(func(ctx context.Context, c *zk.Conn) object.Elector { return newSelector(ctx, c, false) }),
		Right:    openElection(func(ctx context.Context, c *zk.Conn) object.Elector { return newSelector(ctx, c, true) }),
	}
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
