package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-zookeeper/zk"
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
			"%w: %s has %q, expected a number from 1 or %q", ErrThreshold, b.path, data, openData,
		)
	}
	return threshold{members: members, stat: stat}, nil
}

// look reads the barrier as it is at some moment during the call.
func (b *ThresholdBarrier) look(ctx context.Context, r *requests) (now threshold, err error) {
	err = r.fresh(ctx, b.path, func() error {
		data, stat, err := r.get(ctx, b.path)
		if err == nil {
			now, err = b.thresholdOf(data, stat)
		} else {
			now, err = threshold{}, ignore(err, zk.ErrNoNode)
		}
		return err
	})
	return now, err
}

// prepared is look, and creates the node if it is missing.
func (b *ThresholdBarrier) prepared(ctx context.Context, r *requests) (threshold, error) {
	for {
		now, err := b.look(ctx, r)
		if err != nil || now.stat != nil {
			return now, err
		}
		err = r.repeat(ctx, func() error {
			_, err := r.conn.Create(b.path, nil, 0, r.opts.acl) // it must outlive its members
			return err
		})
		if errors.Is(err, zk.ErrNoNode) {
			err = r.ensureDir(ctx, parent(b.path))
		}
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return threshold{}, err
		}
	}
}

// wait joins as a member until the barrier is open. It joins again after each end of the session.
func (b *ThresholdBarrier) wait(ctx context.Context, r *requests, t *task[struct{}]) error {
	var seen threshold
	counted := NotApplied // whether a lost member was counted after seen
	_, err := withRestarts(ctx, func() (none struct{}, err error) {
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
	return ambiguousIf(counted == Unknown, err)
}

// attend makes a node and waits until the barrier is open. With an error, seen is the barrier at
// the last look that found the member not counted, and counted tells whether the member was counted
// after that look.
func (b *ThresholdBarrier) attend(
	ctx context.Context, r *requests, t *task[struct{}], now threshold,
) (seen threshold, counted Outcome, err error) {
	own, err := newProtected(b.path, memberMarker)
	if err != nil {
		return now, NotApplied, err
	}
	own.unordered = true
	err = own.create(ctx, r, nil)
	if err == nil {
		now, err = b.await(ctx, r, own, now)
	}
	if err == nil {
		t.settle(struct{}{})
		b.note(own.remove(r))
		return now, Applied, nil
	}
	if errors.Is(err, ErrConnClosed) {
		return now, Unknown, err // and the node goes with the session
	}
	counted, refused := b.withdraw(r, own)
	if counted == Applied {
		return now, Applied, nil
	}
	return now, counted, firstOf(err, refused)
}

// await waits until the barrier is open or the own node was counted. It returns the barrier at the
// last look that found neither.
func (b *ThresholdBarrier) await(
	ctx context.Context, r *requests, own *protected, seen threshold,
) (threshold, error) {
	err := b.gate.until(ctx, r, own.epoch, func() (*watch, bool, error) {
		data, stat, w, err := b.gate.data(ctx, r)
		if err != nil {
			return nil, false, restartIfMissing(err)
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
		opened, err := b.open(ctx, r, now, own.name())
		return w, opened, err
	})
	return seen, err
}

// counted reports whether the own node was counted when the barrier opened.
func (b *ThresholdBarrier) counted(ctx context.Context, r *requests, own *protected) (bool, error) {
	data, stat, err := r.get(ctx, own.path)
	switch {
	case err != nil:
		return false, restartIfMissing(err)
	case !own.epoch.owns(stat):
		return false, errRestart
	}
	return len(data) > 0, nil
}

// open opens the barrier if enough members are there. Only nodes that are unchanged since their
// creation count. It reports whether it has opened the barrier and has counted own. Each member
// calls open after its arrival and after each change of the barrier. So at least the youngest
// member sees all of them.
func (b *ThresholdBarrier) open(
	ctx context.Context, r *requests, now threshold, own string,
) (bool, error) {
	if now.members == 0 {
		return false, nil
	}
	names, err := r.children(ctx, b.path)
	if err != nil {
		return false, restartIfMissing(err)
	}
	members := SortBySequence(names, memberMarker)
	for len(members) >= now.members {
		ops := setOps(b.path, []byte(openData), now.stat, r.opts.acl)
		before := len(ops)
		for _, name := range members {
			ops = append(ops, &zk.SetDataRequest{
				Path: join(b.path, name), Data: []byte(inData), Version: 0,
			})
		}
		failed, err := r.multiUntil(ctx, ops...)
		switch {
		case err == nil:
			return slices.Contains(members, own), nil
		case !isConflict(err):
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
func (b *ThresholdBarrier) withdraw(r *requests, own *protected) (counted Outcome, err error) {
	switch {
	case own.doubtful:
		return Unknown, r.tidy(own.remove)
	case own.path == "":
		return NotApplied, nil
	}
	err = r.repeat(context.Background(), func() error { return r.conn.Delete(own.path, 0) })
	switch {
	case err == nil:
		return NotApplied, nil
	case errors.Is(err, zk.ErrBadVersion):
		return Applied, r.tidy(own.remove)
	case errors.Is(err, zk.ErrNoNode):
		return Unknown, nil
	}
	return Unknown, r.tidy(own.remove) // which is refused as well
}
