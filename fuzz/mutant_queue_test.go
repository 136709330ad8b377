package fuzz_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
)

// seqQueue is the get-then-delete queue, with one defect more for each flag.
type seqQueue struct {
	conn   *zk.Conn
	bad    queueDefects
	prefix string // of the names; "" means "n-"
}

type queueDefects struct {
	blindOffer  bool // repeats a create whose reply was lost
	deleteFirst bool // reads an element when it has removed it
	deafTake    bool // takes "no such node" at a repeated delete for its own doing
	lastFirst   bool // takes the youngest element
}

func (q *seqQueue) Offer(_ context.Context, data []byte) (err error) {
	for range attempts {
		_, err = q.conn.Create("/queue", nil, 0, openACL)
		if err == nil || errors.Is(err, zk.ErrNodeExists) {
			break
		}
	}
	for range attempts {
		_, err = q.conn.Create("/queue/"+cmp.Or(q.prefix, "n-"), data, zk.FlagSequence, openACL)
		if err == nil || !q.bad.blindOffer {
			break
		}
	}
	return err
}

func (q *seqQueue) Take(ctx context.Context) ([]byte, error) {
	for {
		names, _, changed, err := q.conn.ChildrenW("/queue")
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		if q.bad.lastFirst {
			slices.Reverse(names)
		}
		for _, name := range names {
			data, err := q.remove("/queue/" + name)
			if !errors.Is(err, zk.ErrNoNode) {
				return data, err
			}
		}
		if err := nap(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// nap waits for a change, or for a while if one was seen already.
func nap(ctx context.Context, changed <-chan zk.Event) error {
	select {
	case <-changed:
		return nil
	case <-time.After(time.Minute):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *seqQueue) remove(path string) ([]byte, error) {
	if q.bad.deleteFirst {
		if err := q.conn.Delete(path, -1); err != nil {
			return nil, err
		}
		data, _, err := q.conn.Get(path)
		return data, err
	}
	data, _, err := q.conn.Get(path)
	if err != nil || !q.bad.deafTake {
		return data, errors.Join(err, q.deleteUnless(err, path))
	}
	for i := range attempts {
		err = q.conn.Delete(path, -1)
		if err == nil || i > 0 && errors.Is(err, zk.ErrNoNode) {
			return data, nil
		}
		if errors.Is(err, zk.ErrNoNode) {
			break
		}
	}
	return nil, err
}

func (q *seqQueue) deleteUnless(err error, path string) error {
	if err != nil {
		return nil
	}
	return q.conn.Delete(path, -1)
}
