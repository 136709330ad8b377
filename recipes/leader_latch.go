package recipes

import (
	"context"

	"github.com/zksim/zksim/recipes/internal/hold"
)

// LeaderLatch is a candidate that stands in an election in the background. Once elected it leads
// until Close or until it loses its session or its node; after a loss it stands again. Use
// LeaderLatch if the program asks whether it leads, and LeaderSelector if leadership is a function
// call. Several candidates on one Conn are rivals like any others.
//
// It guarantees:
//
//   - At most one leader at the server: the owner of the oldest live node. A Term begins only after
//     the candidate has read its node once more and found it to belong to the present session of
//     the Conn.
//   - Fairness: candidates become leaders in the order in which their nodes were created. A
//     candidate that loses its session starts again at the end.
//   - One resignation wakes one candidate: each watches only the node before its own.
//   - The epoch grows with every term.
//   - The candidate stands in spite of lost connections, expired sessions and refusals, until
//     Close. Close or the end of the session removes its nodes, even if replies are lost.
//
// When the connection is lost, a candidate goes on waiting and a leader stays leader, as its
// session may live on; Lost is closed before the session can be over, as SessionTimeout says. When
// the session ends, Lost is closed as soon as the client learns of it, and the candidate stands
// again in the new session. A done context ends an Await, not the candidacy.
//
// A leader that is paused beyond the end of its session does not notice the end. For that time two
// candidates believe that they lead. Let the resource refuse smaller epochs.
//
// Layout: <path>/_c_<guid>-latch-<sequence>, ephemeral, data = the candidate's id. Curator's
// LeaderLatch uses the same names and can stand in the same election. Other children are ignored.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Leader Election"; Curator's LeaderLatch;
// CURATOR-652 and 653 (replies to an earlier candidacy), CURATOR-644 and 645 (candidates that reset
// each other for ever), CURATOR-3 and 18 (a creation under way during close).
type LeaderLatch struct{ *election }

// latchMarker stands before the sequence number of a latch's node.
const latchMarker = "latch-"

// NewLeaderLatch makes a candidate for the election at path, which is created when needed and must
// be used for this election only. Leader and Participants show id to the others; it need not be
// unique. It sends nothing. The options that matter are ACL, SessionTimeout, RecheckEvery and
// Containers; no retry policy ends a candidacy.
func NewLeaderLatch(conn Conn, path, id string, opts ...Option) *LeaderLatch {
	return &LeaderLatch{
		newElection(conn, "election", path, id, latchMarker, []string{latchMarker}, opts),
	}
}

// Start begins to stand. Calling it again changes nothing; after Close it returns ErrClosed.
func (l *LeaderLatch) Start() error {
	return l.start(false, func(term *Term) bool {
		<-term.Lost()
		return true
	})
}

// Await waits until this candidate leads and returns its term. It returns an error when ctx is
// done, when the server has refused a candidacy, and when the Conn or the latch is closed. In the
// first two cases the candidate remains in the election, and Await can be called again. Before
// Start it returns an error.
func (l *LeaderLatch) Await(ctx context.Context) (*Term, error) {
	term, err := l.await(ctx)
	return term, l.tasks.Explain("await leadership in", err)
}

// Do waits for leadership as Await does, and calls work with the epoch. The context of work ends
// with ctx or with the term. If the term ends first, the cause is ErrLeadershipLost, or ErrClosed
// after Close, and the error of Do wraps that cause and the error of work. The candidate still
// leads after Do, until Close. Before Start it returns an error.
func (l *LeaderLatch) Do(
	ctx context.Context, work func(ctx context.Context, epoch int64) error,
) error {
	term, err := l.Await(ctx)
	if err != nil {
		return err
	}
	goOn := func(context.Context) error { return nil }
	return hold.Under(ctx, l.tasks, term.held, ErrLeadershipLost, goOn, work)
}
