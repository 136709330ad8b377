package recipes

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// ConfigCenter is a directory of settings, small values by key, which every client reads from its
// own copy and any client changes at the server. Methods may be called from several goroutines.
//
// It guarantees:
//
//   - Get and Entries read the local copy and send nothing. The copy changes when the server tells
//     of a change, never by the client's own write; each change is an event for each reader of
//     Changes, with the key as Node.Name. Each key has the guarantees of a child in a
//     ChildrenCache: its value was true at some moment, never goes back, and in the end is the
//     server's. Ready waits until all keys were read once, and Stale is true while the connection
//     is down.
//   - Create, Update and Delete that return nil have changed the key exactly once. After an error
//     that wraps ErrAmbiguous they have changed it once or not at all; after any other error,
//     zk.ErrNodeExists, zk.ErrNoNode and zk.ErrBadVersion among them, not at all. These, and Fetch,
//     ask the server, and are linearizable.
//
// When the connection is lost, the copy stays, Stale tells, and writes wait. When the session ends,
// all keys are read again in the new one; nothing here is ephemeral. A done context ends a call; a
// write that was sent and not answered is settled in the background (see the package comment).
//
// It cannot guarantee that the copy shows the client's own write when that returns, or that of
// another client while the own server lags behind; or several keys as of the same moment: keep data
// that belongs together under one key. Nor can it tell apart two values of a key that have the same
// version because the key was deleted in between. A process that dies in the middle of a write can
// leave its record; records older than the longest outage can be deleted.
//
// Layout, all persistent:
//
//	<path>/keys/<key>        data = the value
//	<path>/writes/<guid>     a write under way, no data
//
// Sources: the "configuration centre" of ZooKeeper's use cases. Its usual form on Curator's
// PathChildrenCache has no answer to a lost reply, does not report that it is stale, and reads
// before it is ready.
type ConfigCenter struct{ *view }

// ConfigEntry is one setting.
type ConfigEntry struct {
	Key     string
	Value   []byte
	Version int32 // from 0; each update adds 1
}

// AnyVersion makes Update and Delete accept every version.
const AnyVersion int32 = -1

// NewConfigCenter makes a handle for the settings at path, which the first Create makes. It sends
// nothing; Start begins to read. Writes and Fetch need no Start. The options that matter are ACL,
// RecheckEvery, Retry and Containers.
func NewConfigCenter(conn Conn, path string, opts ...Option) *ConfigCenter {
	v := newView(conn, "configuration centre", path, join(path, "keys"), 1, opts)
	v.rootless = true
	return &ConfigCenter{v}
}

// Get returns a setting of the local copy, and false if there is none, or it was not read yet.
func (c *ConfigCenter) Get(key string) (ConfigEntry, bool) {
	n, ok := c.node(join(c.root, key))
	if !ok {
		return ConfigEntry{}, false
	}
	return entryOf(n), true
}

// Entries returns the local copy, sorted by key.
func (c *ConfigCenter) Entries() []ConfigEntry {
	var list []ConfigEntry
	for _, n := range c.Nodes() {
		list = append(list, entryOf(n))
	}
	return list
}

func entryOf(n CachedNode) ConfigEntry {
	return ConfigEntry{Key: n.Name(), Value: n.Data, Version: n.Stat.Version}
}

// Fetch returns a setting as the server has it at some moment of the call, and false if there is
// none.
func (c *ConfigCenter) Fetch(ctx context.Context, key string) (ConfigEntry, bool, error) {
	n, err := ask(ctx, c.lifecycle, "fetch "+key+
		" from", func(ctx context.Context, r *requests) (node, error) {
		if err := checkName("key", key); err != nil {
			return node{}, err
		}
		var n node
		path := join(c.root, key)
		err := r.fresh(ctx, path, func() error {
			data, stat, err := r.get(ctx, path)
			if n = (node{data: data, stat: stat}); errors.Is(err, zk.ErrNoNode) {
				n, err = node{}, nil
			}
			return err
		})
		return n, err
	})
	if err != nil || n.stat == nil {
		return ConfigEntry{}, false, err
	}
	return ConfigEntry{Key: key, Value: n.data, Version: n.stat.Version}, true, nil
}

// Create makes a setting. An error that wraps zk.ErrNodeExists means that there is one of that key.
func (c *ConfigCenter) Create(ctx context.Context, key string, value []byte) error {
	return c.change(
		ctx, "create", key, &zk.CreateRequest{
			Path: join(c.root, key), Data: bytes.Clone(value), Acl: c.opts.acl,
		},
	)
}

// Update gives a setting another value, if it has the version. An error that wraps zk.ErrBadVersion
// means that it has another one, zk.ErrNoNode that there is none of that key.
func (c *ConfigCenter) Update(ctx context.Context, key string, value []byte, version int32) error {
	return c.change(
		ctx, "update", key, &zk.SetDataRequest{
			Path: join(c.root, key), Data: bytes.Clone(value), Version: version,
		},
	)
}

// Delete removes a setting, if it has the version. It returns the errors of Update.
func (c *ConfigCenter) Delete(ctx context.Context, key string, version int32) error {
	return c.change(ctx, "delete", key, &zk.DeleteRequest{
		Path: join(c.root, key), Version: version,
	})
}

// change makes one change of a key together with its record.
func (c *ConfigCenter) change(ctx context.Context, what, key string, op interface{}) error {
	return settling(ctx, c.lifecycle, what+" "+key+" in", func(
		ctx context.Context, r *requests, t *task[struct{}],
	) error {
		if err := checkName("key", key); err != nil {
			return err
		}
		w, err := newRecorded(c.writes(), "")
		if err == nil {
			_, err = end(c.lifecycle, r, t, w, struct{}{}, c.apply(ctx, r, w, op))
		}
		return err
	})
}

func (c *ConfigCenter) writes() string { return join(c.path, "writes") }

// apply makes the change, directories included.
func (c *ConfigCenter) apply(ctx context.Context, r *requests, w *recorded, op interface{}) error {
	for {
		err := w.apply(ctx, r, op)
		if !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		complete, lookErr := c.hasDirs(ctx, r, op)
		if lookErr != nil {
			return lookErr
		}
		if complete {
			return err
		}
		for _, dir := range []string{c.writes(), c.root} {
			if err := r.ensureDir(ctx, dir); err != nil {
				return err
			}
		}
	}
}

// hasDirs reports whether all directories are there, so that a missing node is the key's own. A
// creation needs the directories only.
func (c *ConfigCenter) hasDirs(ctx context.Context, r *requests, op interface{}) (bool, error) {
	if _, creates := op.(*zk.CreateRequest); creates {
		return false, nil
	}
	stat, err := r.exists(ctx, c.writes())
	return stat != nil, err
}
