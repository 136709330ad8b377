package object_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/recipes"
)

// guideLock is the lock of the ZooKeeper guide. It sets a watch on its predecessor by an exists,
// and lists the line again at once if the predecessor is gone.
type guideLock struct{ pollingLock }

func (l *guideLock) Lock(ctx context.Context) error {
	own, err := l.sit("write")
	if err != nil {
		return err
	}
	for err == nil || lostReply(err) {
		var list []string
		if list, err = l.line(); err != nil {
			continue
		}
		before := ""
		for _, name := range list {
			if l.dir+"/"+name == own.path {
				break
			}
			before = name
		}
		if before == "" {
			var stat *zk.Stat
			var there bool
			if there, stat, err = l.conn.Exists(own.path); err != nil {
				continue
			}
			if !there || stat.EphemeralOwner != l.conn.SessionID() {
				return errors.Join(errSeatGone, l.leave(own))
			}
			own.token, l.held = stat.Czxid, own
			return nil
		}
		time.Sleep(3 * time.Millisecond) // the predecessor may go meanwhile
		there, _, gone, failed := l.conn.ExistsW(l.dir + "/" + before)
		if err = failed; err != nil || !there {
			continue
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), l.leave(own))
		}
	}
	return errors.Join(err, l.leave(own))
}

// attendedLock has a goroutine that works until its owner ends, or until Close.
type attendedLock struct {
	pollingLock
	looks atomic.Int64
}

func newAttendedLock(env object.Env, s seats) *attendedLock {
	l := &attendedLock{pollingLock: pollingLock{seats: s}}
	go func() {
		for nap(env.Context, time.Minute) {
			l.looks.Add(1)
		}
	}()
	return l
}

// closedLock has a goroutine that works until Close.
type closedLock struct {
	object.Locker
	close context.CancelFunc
}

func newClosedLock(l object.Locker) closedLock {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-ctx.Done() }()
	return closedLock{l, cancel}
}

func (l closedLock) Close(ctx context.Context) error {
	l.close()
	return l.Locker.(ender).Close(ctx)
}

// shyElector stores its name in its znode when the znode is the first.
type shyElector struct {
	seats
	held seat
}

func (e *shyElector) Lead(ctx context.Context) (err error) {
	if e.held, err = e.take(ctx, "write", alone); err != nil {
		return err
	}
	for {
		_, err = e.conn.Set(e.held.path, []byte(e.name), -1)
		switch {
		case err == nil && e.held.session == e.conn.SessionID():
			return nil
		case err == nil:
			err = errSeatGone
		case lostReply(err) && nap(ctx, e.period):
			continue
		}
		return errors.Join(err, e.leave(e.held))
	}
}

func (e *shyElector) Resign(context.Context) error { return e.leave(e.held) }
func (e *shyElector) Close(context.Context) error  { return e.leave(e.held) }

func (e *shyElector) Leader(context.Context) (string, int64, error) {
	for {
		list, err := e.line()
		if errors.Is(err, zk.ErrNoNode) || err == nil && len(list) == 0 {
			return "", 0, nil
		}
		if err != nil {
			return "", 0, err
		}
		data, stat, err := e.conn.Get(e.dir + "/" + list[0])
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err != nil || len(data) == 0 {
			return "", 0, err
		}
		return string(data), stat.Czxid, nil
	}
}

// scanningQueue is a priority queue that lists the elements and removes the first of them that is
// still there.
type scanningQueue struct {
	conn recipes.Conn
	dir  string
}

func (q scanningQueue) Offer(_ context.Context, data []byte, priority int32) error {
	for {
		_, err := q.conn.Create(fmt.Sprintf("%s/%05d-", q.dir, priority+100), data, zk.FlagSequence,
			everyone)
		if !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		if _, err := q.conn.Create(q.dir, nil, 0, everyone); err != nil &&
			!errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
}

func (q scanningQueue) Take(ctx context.Context) ([]byte, error) {
	for ctx.Err() == nil {
		data, ok, err := q.Poll(ctx)
		if ok || err != nil {
			return data, err
		}
		nap(ctx, 10*time.Millisecond)
	}
	return nil, ctx.Err()
}

func (q scanningQueue) Poll(ctx context.Context) ([]byte, bool, error) {
	names, _, err := q.conn.Children(q.dir)
	if len(names) == 0 && (err == nil || errors.Is(err, zk.ErrNoNode)) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	for _, name := range sorted(names) {
		data, _, err := q.conn.Get(q.dir + "/" + name)
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		switch err := q.conn.Delete(q.dir+"/"+name, -1); {
		case err == nil:
			return data, true, nil
		case !errors.Is(err, zk.ErrNoNode):
			return data, false, fmt.Errorf("%w: %w", recipes.ErrAmbiguous, err)
		}
	}
	return q.Poll(ctx)
}

// frankLock releases a hold with one request, and returns an error if that fails.
type frankLock struct{ pollingLock }

func (l *frankLock) Unlock(context.Context) error {
	err := l.conn.Delete(l.held.path, -1)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
