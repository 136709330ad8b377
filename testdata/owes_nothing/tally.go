// Package tally is code under test that knows nothing of zksim.
package tally

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/go-zookeeper/zk"
)

// unsure is an error after which nobody knows whether the write took effect.
type unsure struct{ error }

func (unsure) Ambiguous() bool { return true }

// unsureOf marks the error of a write, unless the server has refused the write.
func unsureOf(err error) error {
	for _, refused := range []error{zk.ErrBadVersion, zk.ErrNoNode, zk.ErrNodeExists} {
		if err == nil || errors.Is(err, refused) {
			return err
		}
	}
	return unsure{err}
}

var anyone = zk.WorldACL(zk.PermAll)

// Counter is a number in a znode.
type Counter struct {
	Conn *zk.Conn
	Path string
	// Boastful says of a write without a reply that it has failed.
	Boastful bool
	// Stubborn repeats such a write.
	Stubborn bool
}

// Add adds delta and returns the sum.
func (c *Counter) Add(ctx context.Context, delta int64) (int64, error) {
	for lost := 0; ; {
		sum, err := c.add(delta)
		switch {
		case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNodeExists):
		case c.Stubborn && errors.As(err, new(unsure)) && lost == 0:
			lost++
		case c.Boastful && err != nil:
			return 0, errors.New("it was not written")
		default:
			return sum, err
		}
	}
}

func (c *Counter) add(delta int64) (sum int64, err error) {
	data, stat, err := c.Conn.Get(c.Path)
	if errors.Is(err, zk.ErrNoNode) {
		_, err = c.Conn.Create(c.Path, []byte(strconv.FormatInt(delta, 10)), 0, anyone)
		return delta, unsureOf(err)
	}
	if err == nil {
		sum, err = strconv.ParseInt(string(data), 10, 64)
	}
	if err != nil {
		return 0, err
	}
	sum += delta
	_, err = c.Conn.Set(c.Path, []byte(strconv.FormatInt(sum, 10)), stat.Version)
	return sum, unsureOf(err)
}

// Queue is a directory of elements.
type Queue struct {
	Conn *zk.Conn
	Path string
	// Forgetful drops an element that it has taken for a caller who has gone.
	Forgetful bool
}

// Offer appends an element.
func (q *Queue) Offer(ctx context.Context, data []byte) error {
	if err := q.makeDir(); err != nil {
		return err
	}
	_, err := q.Conn.Create(q.Path+"/n-", data, zk.FlagSequence, anyone)
	return unsureOf(err)
}

func (q *Queue) makeDir() error {
	_, err := q.Conn.Create(q.Path, nil, 0, anyone)
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// Take waits for the first element and removes it.
func (q *Queue) Take(ctx context.Context) ([]byte, error) {
	if err := q.makeDir(); err != nil {
		return nil, err
	}
	for ctx.Err() == nil {
		names, _, changed, err := q.Conn.ChildrenW(q.Path)
		if err != nil {
			return nil, err
		}
		slices.Sort(names)
		for _, name := range names {
			data, err := q.remove(q.Path + "/" + name)
			if q.Forgetful && err == nil && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if !errors.Is(err, zk.ErrNoNode) {
				return data, err
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return nil, ctx.Err()
}

func (q *Queue) remove(path string) ([]byte, error) {
	data, _, err := q.Conn.Get(path)
	if err == nil {
		err = unsureOf(q.Conn.Delete(path, -1))
	}
	return data, err
}
