package recipes

import (
	"context"
	"errors"
	"sync"

	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

var (
	// ErrInside is returned by Enter of a DoubleBarrier that is inside already, or on its way.
	ErrInside = errors.New("already inside or entering")
	// ErrNotInside is returned by Leave of a DoubleBarrier that has not entered.
	ErrNotInside = errors.New("not inside")
	// ErrMemberLost says that the member's node was deleted during Enter, usually with its session.
	// The other members may have counted the node, and go on without this member.
	ErrMemberLost = errors.New("the member's node is gone")
)

// DoubleBarrier lets members begin a piece of work together and end it together: Enter returns when
// size members are there, and Leave when all of these have left. One DoubleBarrier is one member;
// it can be used again after Leave. If more members come, they form several groups of size members
// in the order of arrival, and no group waits for another. When the directory's sequence numbers
// are used up, the order is undefined.
//
// It guarantees:
//
//   - An Enter that returns nil has found size members at one moment, this one included. One
//     transaction forms the group and sets the nodes of all its members, so a member that has given
//     up is not counted.
//   - A Leave that returns nil has seen that no member of the group is inside any more: the member
//     has left or given up, or its session has ended.
//   - As long as all live members of a group call Leave, all Leaves return; as long as size members
//     wait in Enter, a group of them enters.
//   - Nothing is left behind: the member's node goes with Leave, with an Enter that fails, or with
//     the session. The last member that leaves the group removes the group's node.
//
// When the connection is lost, calls wait for it. When the session ends, Enter returns
// ErrMemberLost, as the member may have been counted. For a member inside, Lost is closed, and
// Leave still waits for the others. When the connection stays down, Lost is closed before the
// session can be over, as SessionTimeout says. A done context ends a call: Enter removes the
// member's node; Leave stops waiting, but removes the node all the same. The error of an Enter
// wraps ErrAmbiguous if the group may have been formed with this member.
//
// It cannot guarantee that a member learns at once of its group: if the connection is lost twice in
// a row, the client may miss the event, and the member learns of the group after RecheckEvery. It
// cannot tell whether a member that is gone has done its work or has died. If all members of a
// group die inside or lose their sessions, the group's node stays until a member of another group
// leaves. No member waits for it.
//
// Layout:
//
//	<path>/_c_<guid>-member-<sequence>   ephemeral, data = name of the group's node, or none
//	<path>/ready-<guid>                  persistent, one for each group, data = its members' names
//
// Each group has its own node. The guide has a single node "ready" for all rounds: while it exists,
// members of the next round pass, and a late removal could delete the node of the next round.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Double Barriers"; Curator's
// DistributedDoubleBarrier; CURATOR-318 (a member that timed out is counted), Curator issue 1290
// (any event ends an enter), ZOOKEEPER-1011 (a fast leaver makes a slow member miss the count).
type DoubleBarrier struct {
	lifecycle
	size int

	mu       sync.Mutex
	entering bool
	// closed when the latest Enter is over, clean-up included; nil before the first
	cleaning <-chan struct{}
	member   *member // the latest; nil before the first
}

// member is a membership in a group that has entered.
type member struct {
	*hold.Hold
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
		return b.tasks.Explain("enter", ErrInside)
	}
	err := task.ActAndSettle(ctx, b.tasks, "enter", b.enter)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entering = false
	return err
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
// any case, even if ctx is done from the start, in the background if need be. After an error the
// caller may call Leave again to wait, or Enter to begin anew. Leave returns ErrNotInside if there
// is no member inside.
func (b *DoubleBarrier) Leave(ctx context.Context) error {
	m, err := b.startLeave()
	if err != nil {
		return b.tasks.Explain("leave", err)
	}
	_, known, err := task.RunCounted(ctx, b.tasks, func(
		r *request.Sender, t *task.Task[struct{}],
	) (struct{}, error) {
		return struct{}{}, b.leave(r, t, m)
	})
	if err == nil {
		b.forget(m)
	}
	return b.tasks.Explain("leave", request.AmbiguousIf(!known, err))
}

// startLeave ends the present membership, and counts its clean-up as an operation.
func (b *DoubleBarrier) startLeave() (*member, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.tasks.Closed():
		return nil, ErrClosed
	case b.member == nil:
		return nil, ErrNotInside
	}
	b.member.left = true
	b.member.End()
	b.tasks.BeginCleanUp()
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

// Lost returns a channel that is closed when the member has left, or when its node is gone or may
// be gone; Lost of a Lock lists the causes. The others may then leave, too. If the member is not
// inside, the channel is closed already.
func (b *DoubleBarrier) Lost() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.member != nil {
		return b.member.Ended
	}
	return hold.ClosedChannel()
}

// Close ends the calls under way with ErrClosed, leaves without waiting for the others, and waits
// until nothing is left to clean up or ctx is done; in the latter case the clean-up goes on. Later
// calls return ErrClosed. It leaves the Conn open. It returns the first refusal of the server to
// remove a node of this member.
func (b *DoubleBarrier) Close(ctx context.Context) error {
	b.tasks.Cancel(ErrClosed)
	b.mu.Lock()
	m := b.member
	b.member = nil
	b.mu.Unlock()
	if m != nil {
		m.End()
		b.tasks.CleanUp(nil, func(r *request.Sender) error { return b.withdraw(r, m.Release) })
	}
	return b.tasks.Close(ctx)
}
