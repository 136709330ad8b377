package recipes

import (
	"context"
	"errors"
	"sync"

	"github.com/zksim/zksim/recipes/internal/hold"
)

// ErrInterrupted is the cause of the end of a leader's context after Interrupt.
var ErrInterrupted = errors.New("leader was interrupted")

// Leader does the work of a leader.
type Leader interface {
	// TakeLeadership leads until it returns. It should return soon after ctx is done. The cause of
	// ctx is ErrLeadershipLost after the loss of leadership, ErrInterrupted after Interrupt and
	// ErrClosed after Close. LeaderEpoch(ctx) is the fencing epoch. TakeLeadership may call all
	// methods of the selector but Close, as Close waits for its return. Close with ctx returns
	// after 100 ms with an error that wraps ErrAmbiguous, and is completed when TakeLeadership has
	// returned. Close with a context that is not done waits for ever.
	TakeLeadership(ctx context.Context)
}

// LeaderFunc makes a Leader of a function.
type LeaderFunc func(ctx context.Context)

// TakeLeadership calls the function.
func (f LeaderFunc) TakeLeadership(ctx context.Context) { f(ctx) }

type leaderEpoch struct{}

// LeaderEpoch returns the fencing epoch of the term for the context of TakeLeadership or one
// derived from it, and 0 for any other context. See Term.Epoch.
func LeaderEpoch(ctx context.Context) int64 {
	epoch, ok := ctx.Value(leaderEpoch{}).(int64)
	if !ok {
		return 0
	}
	return epoch
}

// LeaderSelector is a candidate that stands in an election in the background and calls
// TakeLeadership of its Leader when it is elected. It leads until TakeLeadership returns. With
// AutoRequeue it stands again at the end of the queue, so that all candidates take turns.
//
// It guarantees everything that LeaderLatch guarantees, and:
//
//   - TakeLeadership is called only while the candidate leads, one call at a time. A term that is
//     over already gets no call.
//   - The node stays until TakeLeadership has returned. As long as this leader keeps its session,
//     the next one starts after that.
//   - With AutoRequeue only Close, of the selector or of the Conn, ends the turns. Lost sessions,
//     interrupts and refusals of the server do not.
//
// When the connection is lost the leader goes on, as its session may live on; ctx is cancelled
// before the session can be over, as SessionTimeout says. When the session ends, ctx is cancelled
// as soon as the client learns of it, and the candidate stands again when TakeLeadership has
// returned. It cannot stop in time a leader that is paused or ignores its context. Use LeaderEpoch.
//
// Layout: <path>/_c_<guid>-lock-<sequence>, ephemeral, data = the candidate's id. Curator's
// LeaderSelector uses the same names; it and kazoo's Election can stand in the same election. Other
// children are ignored.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Leader Election"; Curator's LeaderSelector;
// CURATOR-16, 73 and 671 (an auto-requeue that ends).
type LeaderSelector struct {
	*election
	leader Leader
	auto   bool

	turn      sync.Mutex
	interrupt context.CancelCauseFunc // ends the present TakeLeadership; nil: there is none
}

// NewLeaderSelector makes a candidate for the election at path, which is created when needed and
// must be used for this election only. Leader and Participants show id to the others; it need not
// be unique. It sends nothing. The options that matter are ACL, SessionTimeout, RecheckEvery and
// Containers; no retry policy ends a candidacy.
func NewLeaderSelector(conn Conn, path, id string, leader Leader, opts ...Option) *LeaderSelector {
	return &LeaderSelector{
		election: newElection(conn, "election", path, id, "lock-", lockMarkers, opts),
		leader:   leader,
	}
}

// AutoRequeue makes the candidate stand again after each term, and returns the selector. Call it
// before Start.
func (s *LeaderSelector) AutoRequeue() *LeaderSelector {
	s.auto = true
	return s
}

// Start begins to stand: for one term, or with AutoRequeue until Close. It changes nothing while
// the candidate waits for its election. During the term or later it makes the candidate stand once
// more, after the return of TakeLeadership. After Close it returns ErrClosed.
func (s *LeaderSelector) Start() error { return s.start(!s.auto, s.lead) }

// Interrupt ends the context of the present TakeLeadership, and reports whether there is one. It
// does not wait for the return of TakeLeadership.
func (s *LeaderSelector) Interrupt() bool {
	s.turn.Lock()
	defer s.turn.Unlock()
	if s.interrupt == nil {
		return false
	}
	s.interrupt(ErrInterrupted)
	return true
}

// lead is one turn. It reports whether TakeLeadership was called.
func (s *LeaderSelector) lead(term *Term) bool {
	if term.held.Over() {
		return false
	}
	ctx := context.WithValue(context.Background(), leaderEpoch{}, term.Epoch())
	ctx, cancel := hold.WhileHeld(ctx, s.tasks, term.held, ErrLeadershipLost)
	defer cancel(nil)
	s.mayInterrupt(cancel)
	defer s.mayInterrupt(nil)
	s.leader.TakeLeadership(ctx)
	return true
}

func (s *LeaderSelector) mayInterrupt(cancel context.CancelCauseFunc) {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.interrupt = cancel
}
