package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// ErrThreshold is returned when the data of a ThresholdBarrier's node is not a number of members,
// and by Set for a number below 1. It is wrapped together with the data or the number, and with the
// path.
var ErrThreshold = errors.New("not a threshold")

// ThresholdBarrier blocks members until their number reaches the number in the data of its node.
// Then it opens, and stays open for later members until Set begins the next round. Each call of
// Wait is one member, so several goroutines of one ThresholdBarrier are several members. For
// members that start together and end together use DoubleBarrier.
//
// It guarantees:
//
//   - Wait returns nil only if the barrier was open at some moment of the call. One transaction
//     opens the barrier and sets the nodes of all counted members. At that moment all counted
//     members are there, and there are at least as many as the number in the barrier's node.
//   - A counted member passes, even if the next round has begun before it looks: its own node says
//     that it was counted. It does not count in that next round. A member that comes to an open
//     barrier passes at once; nor does it count in the next round, if Wait returns nil.
//   - The barrier opens when enough members wait, also if the number was changed while they waited.
//     If more members than that wait, they pass, too.
//   - If Set returns nil, it has written the number exactly once: a repetition after a lost reply
//     does not close a barrier that has opened meanwhile. After an error that does not wrap
//     ErrAmbiguous it has written nothing.
//   - Nothing is left behind: the member's node goes when Wait returns, or with the session.
//
// When the connection is lost, calls wait for it. When the session ends, a member comes again in
// the new one. If the barrier may have been opened and set again meanwhile, it is unknown whether
// the member was counted, and Wait returns ErrMemberLost. A done context ends a call, and the
// member's node is removed, in the background if need be. The error of Wait wraps ErrAmbiguous if
// the member may have been counted. If the removal shows that the member was counted, there is no
// error.
//
// It cannot guarantee that a counted member is still alive. A counted member may learn of the
// opening only after RecheckEvery, if the connection is lost twice in a row and the client misses
// the event. A late member may fall into the next round: call Set again only after all members have
// passed. A watch may be left on the barrier's node; the next Wait uses it again. The members must
// fit in one request of a megabyte: some thousands.
//
// Layout:
//
//	<path>                               persistent, data = the number, "open", or nothing yet
//	<path>/_c_<guid>-member-<sequence>   ephemeral, data = "in" for one that was counted
//	<path>/write-<guid>                  persistent, a Set under way; as those of SharedValue
//	<path>/turn-<zxid>                   persistent, as that of SharedValue
//
// Other clients may set the node, too. Any other data is an error. If the node is missing, Wait
// creates it without data and waits until it is set.
//
// Sources: the barriers of ZooKeeper tutorials. There the members count each other and run when the
// number in the data is reached. They miss the moment if one member too many comes, or if one
// leaves before the last has looked, as nothing records the opening. They also count members of the
// round before. ZooKeeper guide, "Recipes and Solutions: Double Barriers": its node "ready" records
// the opening, but cannot be removed safely for the next round; ZOOKEEPER-1011.
type ThresholdBarrier struct {
	lifecycle
	gate   request.NodeWatch
	number *SharedValue // the data of the node

	mu    sync.Mutex
	waits []*waitCall // calls of Wait that are not over
}

// waitCall is one call of Wait.
type waitCall struct {
	left bool          // the caller has gone
	done chan struct{} // closed when nothing is left of it
}

// NewThresholdBarrier makes a handle for the barrier at path, which must be used for this barrier
// only. It sends nothing. The options that matter are ACL, RecheckEvery, Retry and, for the
// parents, Containers.
func NewThresholdBarrier(conn Conn, path string, opts ...Option) *ThresholdBarrier {
	l := newLifecycle(conn, "threshold barrier", path, opts)
	return &ThresholdBarrier{
		lifecycle: l, gate: request.NodeWatch{Path: path}, number: &SharedValue{lifecycle: l},
	}
}

// Set closes the barrier until the given number of members, at least 1, is there. Waiting members
// count for the new number, and pass if they are enough.
func (b *ThresholdBarrier) Set(ctx context.Context, members int) error {
	if members < 1 {
		return b.tasks.Explain(
			"set", fmt.Errorf("%w: %d members; expected at least 1", ErrThreshold, members),
		)
	}
	_, err := b.number.Set(ctx, strconv.AppendInt(nil, int64(members), 10))
	return err
}

// Wait joins the barrier as a member and waits until the barrier is open. It leaves nothing behind.
func (b *ThresholdBarrier) Wait(ctx context.Context) error {
	v := &waitCall{done: make(chan struct{})}
	defer b.leaveWait(v)
	return task.ActAndSettle(ctx, b.tasks, "wait at", func(
		r *request.Sender, t *task.Task[struct{}],
	) error {
		left := b.beginWait(v)
		defer b.endWait(v)
		for _, before := range left {
			select {
			case <-before.done: // one member must not be counted twice
			case <-r.Ctx.Done():
				return context.Cause(r.Ctx)
			}
		}
		return b.wait(r, t)
	})
}

// beginWait adds a call, and returns the unfinished calls of callers that have left.
func (b *ThresholdBarrier) beginWait(v *waitCall) (left []*waitCall) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, other := range b.waits {
		if other.left {
			left = append(left, other)
		}
	}
	b.waits = append(b.waits, v)
	return left
}

func (b *ThresholdBarrier) leaveWait(v *waitCall) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v.left = true
}

func (b *ThresholdBarrier) endWait(v *waitCall) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits = slices.DeleteFunc(b.waits, func(other *waitCall) bool { return other == v })
	close(v.done)
}

// IsOpen reports whether the barrier was open at some moment during the call.
func (b *ThresholdBarrier) IsOpen(ctx context.Context) (bool, error) {
	return task.Ask(ctx, b.tasks, "look at", func(r *request.Sender) (bool, error) {
		now, err := b.look(r)
		return now.open, err
	})
}

// The data of a threshold barrier's nodes.
const (
	openData = "open" // of the barrier
	inData   = "in"   // of a member that was counted
)

// threshold is the state of a barrier's node.
type threshold struct {
	members int // 0: not set yet
	open    bool
	stat    *zk.Stat // nil: there is no node
}

// mayHaveOpened reports whether the barrier, which is closed now and was closed before, may have
// been open in between. That takes two changes: one opens it and one sets it anew.
func (n threshold) mayHaveOpened(before threshold) bool {
	return n.stat.Czxid != before.stat.Czxid || uint32(n.stat.Version-before.stat.Version) > 1
}

// thresholdOf reads the data of the node of a barrier.
func (b *ThresholdBarrier) thresholdOf(data []byte, stat *zk.Stat) (threshold, error) {
	switch string(data) {
	case "":
		return threshold{stat: stat}, nil
	case openData:
		return threshold{open: true, stat: stat}, nil
	}
	members, err := strconv.Atoi(string(data))
	if err != nil || members < 1 {
		return threshold{}, fmt.Errorf(
			"%w: %s has %q, expected a number from 1 or %q",
			ErrThreshold, b.tasks.Path, data, openData,
		)
	}
	return threshold{members: members, stat: stat}, nil
}

// look reads the barrier as it is at some moment during the call.
func (b *ThresholdBarrier) look(r *request.Sender) (now threshold, err error) {
	err = r.Fresh(b.tasks.Path, func() error {
		data, stat, err := r.Get(b.tasks.Path)
		if err == nil {
			now, err = b.thresholdOf(data, stat)
		} else {
			now, err = threshold{}, request.Ignore(err, zk.ErrNoNode)
		}
		return err
	})
	return now, err
}

// prepared is look, and creates the node if it is missing.
func (b *ThresholdBarrier) prepared(r *request.Sender) (threshold, error) {
	for {
		now, err := b.look(r)
		if err != nil || now.stat != nil {
			return now, err
		}
		err = r.Repeat(func() error {
			_, err := r.Conn.Create(b.tasks.Path, nil, 0, r.Opts.ACL) // it must outlive its members
			return err
		})
		if errors.Is(err, zk.ErrNoNode) {
			err = r.EnsureDir(request.Parent(b.tasks.Path))
		}
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return threshold{}, err
		}
	}
}

// wait joins as a member until the barrier is open. It joins again after each end of the session.
func (b *ThresholdBarrier) wait(r *request.Sender, t *task.Task[struct{}]) error {
	var seen threshold
	counted := NotApplied // whether a lost member was counted after seen
	_, err := request.WithRestarts(r, func() (none struct{}, err error) {
		now, err := b.prepared(r)
		switch {
		case err != nil || now.open:
			return none, err
		case counted == Unknown && now.mayHaveOpened(seen):
			return none, ErrMemberLost
		}
		seen, counted, err = b.attend(r, t, now)
		return none, err
	})
	return request.AmbiguousIf(counted == Unknown, err)
}

// attend makes a node and waits until the barrier is open. With an error, seen is the barrier at
// the last look that found the member not counted, and counted tells whether the member was counted
// after that look.
func (b *ThresholdBarrier) attend(
	r *request.Sender, t *task.Task[struct{}], now threshold,
) (seen threshold, counted Outcome, err error) {
	own, err := request.NewProtected(b.tasks.Path, memberMarker)
	if err != nil {
		return now, NotApplied, err
	}
	own.Unordered = true
	in := false
	err = own.Create(r, nil)
	if err == nil {
		now, in, err = b.await(r, own, now)
	}
	if err == nil && !in { // while its node is there, it would count in the next round
		counted, err = b.withdraw(r, own)
		b.tasks.Note(err)
		return now, counted, nil
	}
	if err == nil {
		t.Settle(struct{}{})
		b.tasks.Note(own.Remove(r))
		return now, Applied, nil
	}
	if errors.Is(err, ErrConnClosed) {
		return now, Unknown, err // and the node goes with the session
	}
	counted, refused := b.withdraw(r, own)
	if counted == Applied {
		return now, Applied, nil
	}
	return now, counted, request.FirstOf(err, refused)
}

// await waits until the barrier is open or the own node was counted, and returns whether it was. It
// also returns the barrier at the last look that found neither.
func (b *ThresholdBarrier) await(
	r *request.Sender, own *request.Protected, seen threshold,
) (_ threshold, counted bool, _ error) {
	err := b.gate.Until(r, own.Epoch, func() (*request.Watch, bool, error) {
		data, stat, w, err := b.gate.Data(r)
		if err != nil {
			return nil, false, request.RestartIfMissing(err)
		}
		now, err := b.thresholdOf(data, stat)
		if err != nil {
			return nil, false, err
		}
		// after the barrier: a change in between fires the watch
		counted, err = b.counted(r, own)
		if err != nil || counted || now.open {
			return nil, true, err
		}
		seen = now
		counted, err = b.open(r, now, own.Name())
		return w, counted, err
	})
	return seen, counted, err
}

// counted reports whether the own node was counted when the barrier opened.
func (b *ThresholdBarrier) counted(r *request.Sender, own *request.Protected) (bool, error) {
	data, stat, err := r.Get(own.Path)
	switch {
	case err != nil:
		return false, request.RestartIfMissing(err)
	case !own.Epoch.Owns(stat):
		return false, request.ErrRestart
	}
	return len(data) > 0, nil
}

// open opens the barrier if enough members are there. Only nodes that are unchanged since their
// creation count. It reports whether it has opened the barrier and has counted own. Each member
// calls open after its arrival and after each change of the barrier. So at least the youngest
// member sees all of them.
func (b *ThresholdBarrier) open(r *request.Sender, now threshold, own string) (bool, error) {
	if now.members == 0 {
		return false, nil
	}
	names, err := r.Children(b.tasks.Path)
	if err != nil {
		return false, request.RestartIfMissing(err)
	}
	members := SortBySequence(names, memberMarker)
	for len(members) >= now.members {
		ops := request.SetOps(b.tasks.Path, []byte(openData), now.stat, r.Opts.ACL)
		before := len(ops)
		for _, name := range members {
			ops = append(ops, &zk.SetDataRequest{
				Path: request.Join(b.tasks.Path, name), Data: []byte(inData), Version: 0,
			})
		}
		failed, err := r.RepeatMulti(ops...)
		switch {
		case err == nil:
			return slices.Contains(members, own), nil
		case !request.IsConflict(err):
			return false, err
		case failed < before:
			return false, nil // and the watch fires
		}
		// gone, or of the round before
		members = slices.Delete(members, failed-before, failed-before+1)
	}
	return false, nil
}

// withdraw removes the own node, and returns whether the node had been counted.
func (b *ThresholdBarrier) withdraw(
	r *request.Sender, own *request.Protected,
) (counted Outcome, err error) {
	switch {
	case own.Doubtful:
		return Unknown, r.Tidy(own.Remove)
	case own.Path == "":
		return NotApplied, nil
	}
	err = r.Unbounded().Repeat(func() error { return r.Conn.Delete(own.Path, 0) })
	switch {
	case err == nil:
		return NotApplied, nil
	case errors.Is(err, zk.ErrBadVersion):
		return Applied, r.Tidy(own.Remove)
	case errors.Is(err, zk.ErrNoNode):
		return Unknown, nil
	}
	return Unknown, r.Tidy(own.Remove) // which is refused as well
}
