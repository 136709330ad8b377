package request

import (
	"errors"

	"github.com/go-zookeeper/zk"
)

// repeated is Repeat for a request with a result.
func repeated[T any](r *Sender, request func() (T, error)) (value T, err error) {
	err = r.Repeat(func() (err error) {
		value, err = request()
		return err
	})
	return value, err
}

// Children lists the names of path's children, in no order.
func (r *Sender) Children(path string) ([]string, error) {
	return repeated(r, func() ([]string, error) {
		names, _, err := r.Conn.Children(path)
		return names, err
	})
}

// ChildrenW lists the names of path's children and watches them for changes.
func (r *Sender) ChildrenW(path string) (names []string, watch <-chan zk.Event, err error) {
	err = r.Repeat(func() (err error) {
		names, _, watch, err = r.Conn.ChildrenW(path)
		return err
	})
	return names, watch, err
}

// Get reads the node at path.
func (r *Sender) Get(path string) (data []byte, stat *zk.Stat, err error) {
	err = r.Repeat(func() (err error) {
		data, stat, err = r.Conn.Get(path)
		return err
	})
	return data, stat, err
}

// Node is a node as read together with a watch on it.
type Node struct {
	Data  []byte
	Stat  *zk.Stat
	Watch <-chan zk.Event
}

// GetW reads the node at path and watches it. If the node is missing it leaves no watch in the
// client, unlike ExistsW.
func (r *Sender) GetW(path string) (Node, error) {
	return repeated(r, func() (n Node, err error) {
		n.Data, n.Stat, n.Watch, err = r.Conn.GetW(path)
		return n, err
	})
}

// Sync makes the next read see all that the leader had committed before the sync. Without it a
// server may lag behind, for instance after a reconnection. A leader that was deposed and does not
// know answers it, too: then the read shows what it had when it was deposed.
func (r *Sender) Sync(path string) error {
	return r.Repeat(func() error {
		_, err := r.Conn.Sync(path)
		return err
	})
}

// Confirm makes the next read see every write that was answered before the call, and not only what
// the leader of a sync knows: it is a write that changes nothing, the check of a node that may be
// missing or hidden. A majority has to store it, so a leader that was deposed does not answer. With
// the option SyncOnly it is Sync.
func (r *Sender) Confirm(path string) error {
	if r.Opts.SyncOnly {
		return r.Sync(path)
	}
	_, err := r.RepeatMulti(&zk.CheckVersionRequest{Path: path, Version: -1})
	if errors.Is(err, zk.ErrNoAuth) {
		return nil
	}
	return Ignore(err, zk.ErrNoNode)
}

// Exists returns the stat of the node at path, or nil if there is none.
func (r *Sender) Exists(path string) (*zk.Stat, error) {
	return repeated(r, func() (*zk.Stat, error) {
		found, stat, err := r.Conn.Exists(path)
		if err != nil || !found {
			return nil, err
		}
		return stat, nil
	})
}

// ExistsW is Exists, and watches for the node's creation, change or deletion. It is for missing
// nodes: for an existing node GetW is better.
func (r *Sender) ExistsW(path string) (*zk.Stat, <-chan zk.Event, error) {
	var found bool
	var stat *zk.Stat
	var watch <-chan zk.Event
	err := r.Repeat(func() (err error) {
		found, stat, watch, err = r.Conn.ExistsW(path)
		return err
	})
	if err != nil || !found {
		return nil, watch, err
	}
	return stat, watch, nil
}
