package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// repeated is repeat for a request with a result.
func repeated[T any](
	ctx context.Context, r *requests, request func() (T, error),
) (value T, err error) {
	err = r.repeat(ctx, func() (err error) {
		value, err = request()
		return err
	})
	return value, err
}

// children lists the names of path's children, in no order.
func (r *requests) children(ctx context.Context, path string) ([]string, error) {
	return repeated(ctx, r, func() ([]string, error) {
		names, _, err := r.conn.Children(path)
		return names, err
	})
}

// childrenW lists the names of path's children and watches them for changes.
func (r *requests) childrenW(
	ctx context.Context, path string,
) (names []string, watch <-chan zk.Event, err error) {
	err = r.repeat(ctx, func() (err error) {
		names, _, watch, err = r.conn.ChildrenW(path)
		return err
	})
	return names, watch, err
}

// get reads the node at path.
func (r *requests) get(
	ctx context.Context, path string,
) (data []byte, stat *zk.Stat, err error) {
	err = r.repeat(ctx, func() (err error) {
		data, stat, err = r.conn.Get(path)
		return err
	})
	return data, stat, err
}

// node is a node as read together with a watch on it.
type node struct {
	data  []byte
	stat  *zk.Stat
	watch <-chan zk.Event
}

// getW reads the node at path and watches it. If the node is missing it leaves no watch in the
// client, unlike existsW.
func (r *requests) getW(ctx context.Context, path string) (node, error) {
	return repeated(ctx, r, func() (n node, err error) {
		n.data, n.stat, n.watch, err = r.conn.GetW(path)
		return n, err
	})
}

// sync makes the next read see everything that was committed before the sync. Without it a server
// may lag behind, for instance after a reconnection.
func (r *requests) sync(ctx context.Context, path string) error {
	return r.repeat(ctx, func() error {
		_, err := r.conn.Sync(path)
		return err
	})
}

// exists returns the stat of the node at path, or nil if there is none.
func (r *requests) exists(ctx context.Context, path string) (*zk.Stat, error) {
	return repeated(ctx, r, func() (*zk.Stat, error) {
		found, stat, err := r.conn.Exists(path)
		if err != nil || !found {
			return nil, err
		}
		return stat, nil
	})
}

// existsW is exists, and watches for the node's creation, change or deletion. It is for missing
// nodes: for an existing node getW is better.
func (r *requests) existsW(ctx context.Context, path string) (*zk.Stat, <-chan zk.Event, error) {
	var found bool
	var stat *zk.Stat
	var watch <-chan zk.Event
	err := r.repeat(ctx, func() (err error) {
		found, stat, watch, err = r.conn.ExistsW(path)
		return err
	})
	if err != nil || !found {
		return nil, watch, err
	}
	return stat, watch, nil
}
