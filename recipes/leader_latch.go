package recipes

import "context"

// LeaderLatch stands in an election in the background, and leads from the moment
// it is elected until it is closed or has lost its session; then it stands again.
// Use it where leadership is a state that is looked at, and LeaderSelector where
// it is a piece of work. One LeaderLatch is one candidate; several on one Conn
// are rivals like any others.
//
// What it promises:
//   - At most one leader at the server: the owner of the oldest live node. A Term
//     is handed out only after the own node was read once more and belongs to the
//     session of the Conn at that moment.
//   - Fairness: candidates become leaders in the order in which their nodes were
//     created. A candidate that loses its session starts again at the end.
//   - One resignation wakes one candidate: each watches its predecessor only.
//   - The epoch grows with every term.
//   - It keeps standing through lost connections, expired sessions and refusals,
//     until Close. No orphans: its nodes go with Close or with the session, even
//     if replies are lost.
//
// On disconnect a candidate goes on waiting, and a leader stays leader, as its
// session may live on: pass SessionTimeout to be told when it may not. On expiry
// Lost is closed as soon as the client learns of it, and the candidate stands
// again in the new session. A done context ends an Await, not the candidacy.
//
// What it cannot promise: that a leader which is paused or cut off past its
// session's end knows about it: for that time two believe that they lead. Let
// what they change refuse smaller epochs.
//
// Layout: <path>/_c_<guid>-latch-<sequence>, ephemeral, data = the candidate's id.
// These are the nodes of Curator's LeaderLatch, which can stand in the same
// election. Other children are ignored.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Leader Election"; Curator's
// LeaderLatch; CURATOR-652 and 653 (answers to an earlier candidacy), CURATOR-644
// and 645 (candidates that reset each other for ever), CURATOR-3 and 18 (a create
// under way when it is closed).
type LeaderLatch struct{ *election }

// latchMarker stands before the sequence number of a latch's node.
const latchMarker = "latch-"

// NewLeaderLatch makes a candidate for the election at path, which is created
// when needed and must be used for this election only. id is what the others see
// in Leader and Participants; it need not be unique. It sends nothing. The options
// that matter are ACL, SessionTimeout, RecheckEvery and Containers; no retry policy
// ends a candidacy.
func NewLeaderLatch(conn Conn, path, id string, opts ...Option) *LeaderLatch {
	return &LeaderLatch{newElection(conn, "election", path, id, latchMarker, []string{latchMarker}, opts)}
}

// Start begins to stand. Calling it again changes nothing; after Close it returns
// ErrClosed.
func (l *LeaderLatch) Start() error {
	return l.start(false, func(term *Term) bool {
		<-term.Lost()
		return true
	})
}

// Await waits until this candidate leads and returns its term. It returns an
// error when ctx is done, when an attempt to stand has failed, as the server has
// refused it or the Conn was closed, and when the latch is closed. In the first
// two cases the candidate stands on, and Await can be called again. It needs Start.
func (l *LeaderLatch) Await(ctx context.Context) (*Term, error) {
	term, err := l.await(ctx)
	return term, l.explain("await leadership in", err)
}
