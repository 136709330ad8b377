package recipes

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// ConfigCenter is a directory of settings: small values by key. A client reads settings from its
// local copy and changes them at the server. Methods may be called from several goroutines.
//
// It guarantees:
//
//   - Get and Entries read the local copy and send nothing. Only a notification of the server
//     changes the copy; the client's own write does not. Each reader of Changes gets an event for
//     each change, with the key as Node.Name. Each key has the guarantees of a child in a
//     ChildrenCache: its value was true at some moment, never goes back to an older one, and agrees
//     with the server in the end. Ready waits until all keys were read once, and Stale is true
//     while the connection is down.
//   - A Create, Update or Delete that returns nil has changed the key exactly once. After an error
//     that wraps ErrAmbiguous it has changed the key once or not at all. After any other error, for
//     example zk.ErrNodeExists, zk.ErrNoNode or zk.ErrBadVersion, it has not changed the key.
//     Create, Update, Delete and Fetch ask the server and are linearizable.
//
// When the connection is lost, the copy stays, Stale returns true, and writes wait. When the
// session ends, all keys are read again in the new one; nothing here is ephemeral. A done context
// ends a call; a write that was sent and not answered is settled in the background (see the package
// comment).
//
// It cannot guarantee that the copy shows the client's own write when that write returns, or a
// write of another client while the client's server lags behind. The copy can show several keys as
// of different moments: keep data that belongs together under one key. Versions begin at 0 again
// when a key is deleted and created, so two values of one key can have the same version. A process
// that dies in the middle of a write can leave its record; records older than the longest outage
// can be deleted.
//
// Layout, all persistent:
//
//	<path>/keys/<key>        data = the value
//	<path>/writes/<guid>     a write under way, no data
//
// Sources: the "configuration centre" of ZooKeeper's use cases. Its usual form on Curator's
// PathChildrenCache does not handle a lost reply, does not report a stale copy, and allows reads
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

// NewConfigCenter makes a handle for the settings at path, which the first Create creates. It sends
// nothing; Start begins to read. Writes and Fetch need no Start. The options that matter are ACL,
// RecheckEvery, Retry and Containers.
func NewConfigCenter(conn Conn, path string, opts ...Option) *ConfigCenter {
	v := newView(conn, "configuration centre", path, request.Join(path, "keys"), 1, opts)
	v.withoutRoot = true
	return &ConfigCenter{v}
}

// Get returns a setting of the local copy, or false if the copy does not have it.
func (c *ConfigCenter) Get(key string) (ConfigEntry, bool) {
	n, ok := c.node(request.Join(c.root, key))
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

// Fetch asks the server for a setting. The answer was true at some moment of the call; false means
// that there was no such setting.
func (c *ConfigCenter) Fetch(ctx context.Context, key string) (ConfigEntry, bool, error) {
	n, err := task.Ask(ctx, c.tasks, "fetch "+key+
		" from", func(r *request.Sender) (request.Node, error) {
		if err := checkName("key", key); err != nil {
			return request.Node{}, err
		}
		var n request.Node
		path := request.Join(c.root, key)
		err := r.Fresh(path, func() error {
			data, stat, err := r.Get(path)
			if n = (request.Node{Data: data, Stat: stat}); errors.Is(err, zk.ErrNoNode) {
				n, err = request.Node{}, nil
			}
			return err
		})
		return n, err
	})
	if err != nil || n.Stat == nil {
		return ConfigEntry{}, false, err
	}
	return ConfigEntry{Key: key, Value: n.Data, Version: n.Stat.Version}, true, nil
}

// Create makes a setting. An error that wraps zk.ErrNodeExists means that the key exists already.
func (c *ConfigCenter) Create(ctx context.Context, key string, value []byte) error {
	return c.change(
		ctx, "create", key, &zk.CreateRequest{
			Path: request.Join(c.root, key), Data: bytes.Clone(value), Acl: c.tasks.Opts.ACL,
		},
	)
}

// Update replaces the value of a setting that has the given version. An error that wraps
// zk.ErrBadVersion means that the setting has another version; zk.ErrNoNode means that the key does
// not exist.
func (c *ConfigCenter) Update(ctx context.Context, key string, value []byte, version int32) error {
	return c.change(
		ctx, "update", key, &zk.SetDataRequest{
			Path: request.Join(c.root, key), Data: bytes.Clone(value), Version: version,
		},
	)
}

// Delete removes a setting that has the given version. It returns the errors of Update.
func (c *ConfigCenter) Delete(ctx context.Context, key string, version int32) error {
	return c.change(ctx, "delete", key, &zk.DeleteRequest{
		Path: request.Join(c.root, key), Version: version,
	})
}

// change makes one change of a key together with its record.
func (c *ConfigCenter) change(ctx context.Context, what, key string, op interface{}) error {
	return task.ActAndSettle(ctx, c.tasks, what+" "+key+" in", func(
		r *request.Sender, t *task.Task[struct{}],
	) error {
		if err := checkName("key", key); err != nil {
			return err
		}
		w, err := request.NewOnceOnlyChange(c.writes(), "")
		if err == nil {
			_, err = task.EndChange(c.tasks, r, t, w, struct{}{}, c.apply(r, w, op))
		}
		return err
	})
}

func (c *ConfigCenter) writes() string { return request.Join(c.tasks.Path, "writes") }

// apply makes the change, and creates the directories if they are missing.
func (c *ConfigCenter) apply(r *request.Sender, w *request.OnceOnlyChange, op interface{}) error {
	for {
		err := w.Apply(r, op)
		if !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		complete, lookErr := c.hasDirs(r, op)
		if lookErr != nil {
			return lookErr
		}
		if complete {
			return err
		}
		for _, dir := range []string{c.writes(), c.root} {
			if err := r.EnsureDir(dir); err != nil {
				return err
			}
		}
	}
}

// hasDirs reports whether a missing node can only be that of the key: if so, the directory of
// writes exists. For a creation it is false, as only a directory can be missing.
func (c *ConfigCenter) hasDirs(r *request.Sender, op interface{}) (bool, error) {
	if _, creates := op.(*zk.CreateRequest); creates {
		return false, nil
	}
	stat, err := r.Exists(c.writes())
	return stat != nil, err
}
