package recipes

import (
	"context"
	"errors"
	"sync"
)

var (
	// ErrInside is returned by Enter of a DoubleBarrier that is inside already, or on its way.
	ErrInside = errors.New("already inside or entering")
	// ErrNotInside is returned by Leave of a DoubleBarrier that has not entered.
	ErrNotInside = errors.New("not inside")
	// ErrMemberLost says that the member's node was deleted while it entered, usually with its
	// session: the others may have counted it, and go on without it.
	ErrMemberLost = errors.New("the member's node is gone")
)

// DoubleBarrier lets members begin a piece of work together and end it together: Enter returns when
// size members are there, Leave when all of these have left. One DoubleBarrier is one member; it
// can be used again after Leave. If more members come, each size of them, in the order of their
// coming, form a group, and no group waits for another. When the directory's sequence numbers are
// used up, a group is any size of the waiting members.
//
// It guarantees:
//
//   - Enter that returns nil has found size members there at one moment, itself among them: the
//     group is formed in one transaction that sets the nodes of all its members, so a member that
//     has given up before is not counted.
//   - Leave that returns nil has seen that no member of the group is inside any more: each has
//     left, has given up, or its session has ended.
//   - As long as all live members of a group call Leave, all Leaves return; as long as size members
//     wait in Enter, a group of them enters.
//   - Nothing is left behind: the member's node goes with Leave, with an Enter that fails, or with
//     the session. The group's node goes with the last member that does not die.
//
// When the connection is lost, calls wait for it. When the session ends, a member that has not
// entered gets ErrMemberLost, as it may have been counted; the Lost of a member inside is closed,
// and its Leave still waits for the others. When the connection stays down Lost is closed before
// the session can be over, as SessionTimeout says. A done context ends a call: Enter gives up the
// place; Leave stops waiting, but leaves. The error of an Enter wraps ErrAmbiguous if the group may
// have been formed with this member.
//
// It cannot guarantee that a member learns at once that its group was formed if the connection is
// lost twice in a row, as the client may miss the event; it finds out after RecheckEvery. That a
// member that has left has done its work, and did not just die. If all members of a group die
// inside, or lose their sessions, the group's node stays until a member of another group leaves;
// nothing waits for it.
//
// Layout:
//
//	<path>/_c_<guid>-member-<sequence>   ephemeral, data = name of the group's node, once it is in
//	<path>/ready-<guid>                  persistent, one for each group, data = its members' names
//
// The guide's single node "ready" would let the next round pass as long as it is not removed, and
// its removal could hit that of the next round: hence a node for each group.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Double Barriers"; Curator's
// DistributedDoubleBarrier; CURATOR-318 (a member that timed out is counted), Curator issue 1290
// (an enter that ends by any event), ZOOKEEPER-1011 (a fast leaver makes a slow member miss the
// count).
type DoubleBarrier struct {
	*lifecycle
	size int

	mu       sync.Mutex
	entering bool
	// closed when nothing is left of the latest Enter; nil before the first
	cleaning <-chan struct{}
	member   *member // the latest; nil before the first
}

// member is a membership in a group that has entered.
type member struct {
	*hold
	group []string // the names of its members
	left  bool     // Leave was called
}

// NewDoubleBarrier makes a member of the barrier at path, which is created when needed and must be
// used for this barrier only; all members must give the same size, of at least 1. It sends nothing.
// The options that matter are ACL, SessionTimeout, RecheckEvery, Retry and Containers.
func NewDoubleBarrier(conn Conn, path string, size int, opts ...Option) *DoubleBarrier {
	return &DoubleBarrier{
		lifecycle: newLifecycle(conn, "double barrier", path, opts), size: max(1, size),
	}
}

// Enter waits until a group of members is there, and enters with them.
func (b *DoubleBarrier) Enter(ctx context.Context) error {
	if !b.mayEnter() {
		return b.explain("enter", ErrInside)
	}
	err := settling(ctx, b.lifecycle, "enter", b.enter)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entering = false
	return err
}

// keep makes m the present membership. It returns false, and m must be given back, if the caller
// has left or Close was called meanwhile.
func (b *DoubleBarrier) keep(t *task[struct{}], m *member) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed() || !t.settle(struct{}{}) {
		return false
	}
	b.member = m
	b.watchOver(m.hold)
	return true
}

func (b *DoubleBarrier) mayEnter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.entering || b.member != nil && !b.member.left {
		return false
	}
	b.entering = true
	return true
}

// Leave leaves, and waits until all members of the group have left. The member's node is removed in
// any case, also if ctx is done from the start, in the background if need be. After an error Leave
// can be called again, to wait, or Enter. Without a member inside it returns ErrNotInside.
func (b *DoubleBarrier) Leave(ctx context.Context) error {
	m, err := b.startLeave()
	if err != nil {
		return b.explain("leave", err)
	}
	_, known, err := perform(ctx, b.lifecycle, func(
		ctx context.Context, r *requests, t *task[struct{}],
	) (struct{}, error) {
		return struct{}{}, b.leave(ctx, r, t, m)
	})
	if err == nil {
		b.forget(m)
	}
	return b.explain("leave", doubtOf(!known, err))
}

// startLeave ends the present membership, and counts its clean-up in.
func (b *DoubleBarrier) startLeave() (*member, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed():
		return nil, ErrClosed
	case b.member == nil:
		return nil, ErrNotInside
	}
	b.member.left = true
	b.member.end()
	b.beginCleanUp()
	return b.member, nil
}

// forget ends a membership that is over.
func (b *DoubleBarrier) forget(m *member) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.member == m {
		b.member = nil
	}
}

// Lost returns a channel that is closed when the member is not inside any more: because it has
// left, or because its node is gone, or may be; Lost of a Lock says how that is learned. The others
// may leave then. If the member is not inside, the channel is closed already.
func (b *DoubleBarrier) Lost() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.member != nil {
		return b.member.ended
	}
	return closedChannel()
}

// Close ends the calls under way with ErrClosed, leaves without waiting for the others, and waits
// until nothing is left to clean up or ctx is done; in the latter case the clean-up goes on. Later
// calls return ErrClosed. It leaves the Conn open. It returns the first error by which the server
// has refused to remove a node that this member has made.
func (b *DoubleBarrier) Close(ctx context.Context) error {
	b.kill(ErrClosed)
	b.mu.Lock()
	m := b.member
	b.member = nil
	b.mu.Unlock()
	if m != nil {
		m.end()
		b.cleanUp(nil, func(r *requests) error { return b.withdraw(r, m.release) })
	}
	return b.lifecycle.Close(ctx)
}
