package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

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
func (b *ThresholdBarrier) look(ctx context.Context, r *request.Sender) (now threshold, err error) {
	err = r.Fresh(ctx, b.tasks.Path, func() error {
		data, stat, err := r.Get(ctx, b.tasks.Path)
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
func (b *ThresholdBarrier) prepared(ctx context.Context, r *request.Sender) (threshold, error) {
	for {
		now, err := b.look(ctx, r)
		if err != nil || now.stat != nil {
			return now, err
		}
		err = r.Repeat(ctx, func() error {
			_, err := r.Conn.Create(b.tasks.Path, nil, 0, r.Opts.ACL) // it must outlive its members
			return err
		})
		if errors.Is(err, zk.ErrNoNode) {
			err = r.EnsureDir(ctx, request.Parent(b.tasks.Path))
		}
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return threshold{}, err
		}
	}
}

// wait joins as a member until the barrier is open. It joins again after each end of the session.
func (b *ThresholdBarrier) wait(
	ctx context.Context, r *request.Sender, t *task.Task[struct{}],
) error {
	var seen threshold
	counted := NotApplied // whether a lost member was counted after seen
	_, err := request.WithRestarts(ctx, func() (none struct{}, err error) {
		now, err := b.prepared(ctx, r)
		switch {
		case err != nil || now.open:
			return none, err
		case counted == Unknown && now.mayHaveOpened(seen):
			return none, ErrMemberLost
		}
		seen, counted, err = b.attend(ctx, r, t, now)
		return none, err
	})
	return request.AmbiguousIf(counted == Unknown, err)
}

// attend makes a node and waits until the barrier is open. With an error, seen is the barrier at
// the last look that found the member not counted, and counted tells whether the member was counted
// after that look.
func (b *ThresholdBarrier) attend(
	ctx context.Context, r *request.Sender, t *task.Task[struct{}], now threshold,
) (seen threshold, counted Outcome, err error) {
	own, err := request.NewProtected(b.tasks.Path, memberMarker)
	if err != nil {
		return now, NotApplied, err
	}
	own.Unordered = true
	err = own.Create(ctx, r, nil)
	if err == nil {
		now, err = b.await(ctx, r, own, now)
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

// await waits until the barrier is open or the own node was counted. It returns the barrier at the
// last look that found neither.
func (b *ThresholdBarrier) await(
	ctx context.Context, r *request.Sender, own *request.Protected, seen threshold,
) (threshold, error) {
	err := b.gate.Until(ctx, r, own.Epoch, func() (*request.Watch, bool, error) {
		data, stat, w, err := b.gate.Data(ctx, r)
		if err != nil {
			return nil, false, request.RestartIfMissing(err)
		}
		now, err := b.thresholdOf(data, stat)
		if err != nil {
			return nil, false, err
		}
		// after the barrier: a change in between fires the watch
		counted, err := b.counted(ctx, r, own)
		if err != nil || counted || now.open {
			return nil, true, err
		}
		seen = now
		opened, err := b.open(ctx, r, now, own.Name())
		return w, opened, err
	})
	return seen, err
}

// counted reports whether the own node was counted when the barrier opened.
func (b *ThresholdBarrier) counted(
	ctx context.Context, r *request.Sender, own *request.Protected,
) (bool, error) {
	data, stat, err := r.Get(ctx, own.Path)
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
func (b *ThresholdBarrier) open(
	ctx context.Context, r *request.Sender, now threshold, own string,
) (bool, error) {
	if now.members == 0 {
		return false, nil
	}
	names, err := r.Children(ctx, b.tasks.Path)
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
		failed, err := r.MultiUntil(ctx, ops...)
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
	err = r.Repeat(context.Background(), func() error { return r.Conn.Delete(own.Path, 0) })
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
