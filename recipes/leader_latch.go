package recipes

import "context"

// LeaderLatch is a candidate that stands in an election in the background. It leads from its
// election until it is closed or has lost its session; then it stands again. Use it where
// leadership is a state to be asked for, and LeaderSelector where it is a piece of work. Several
// candidates on one Conn are rivals like any others.
//
// It guarantees:
//
//   - At most one leader at the server: the owner of the oldest live node. A Term is handed out
//     only after the own node was read once more and belongs to the present session of the Conn.
//   - Fairness: candidates become leaders in the order in which their nodes were created. A
//     candidate that loses its session starts again at the end.
//   - One resignation wakes one candidate: each watches only the node before its own.
//   - The epoch grows with every term.
//   - It stands through lost connections, expired sessions and refusals, until Close. Nothing is
//     left behind: its nodes go with Close or with the session, even if replies are lost.
//
// When the connection is lost, a candidate goes on waiting and a leader stays leader, as its
// session may live on; Lost is closed before it can be over, as SessionTimeout says. When the
// session ends, Lost is closed as soon as the client learns of it, and the candidate stands again
// in the new session. A done context ends an Await, not the candidacy.
//
// It cannot guarantee that a leader which is paused beyond the end of its session knows that. For
// that time two candidates believe that they lead. Let the resource refuse smaller epochs.
//
// Layout: <path>/_c_<guid>-latch-<sequence>, ephemeral, data = the candidate's id. These are the
// nodes of Curator's LeaderLatch, which can stand in the same election. Other children are ignored.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Leader Election"; Curator's LeaderLatch;
// CURATOR-652 and 653 (answers to an earlier candidacy), CURATOR-644 and 645 (candidates that reset
// each other for ever), CURATOR-3 and 18 (a create under way when it is closed).
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
// done, when an attempt to stand has failed, as the server has refused it or the Conn was closed,
// and when the latch is closed. In the first two cases the candidate stands on, and Await can be
// called again. It needs Start.
func (l *LeaderLatch) Await(ctx context.Context) (*Term, error) {
	term, err := l.await(ctx)
	return term, l.explain("await leadership in", err)
}
