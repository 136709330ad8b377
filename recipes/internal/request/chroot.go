package request

import (
	"strings"

	"github.com/go-zookeeper/zk"
)

// Chroot returns a Conn that shows the nodes below path as if path were the root; see
// recipes.Chroot.
func Chroot(conn Conn, path string) Conn {
	base := strings.TrimSuffix(path, "/")
	if base == "" {
		return conn
	}
	if outer, ok := conn.(*chroot); ok {
		return &chroot{outer.conn, outer.inner(base)}
	}
	return &chroot{conn, base}
}

// chroot is the Conn that Chroot returns.
type chroot struct {
	conn Conn
	base string // the path of the root, without a slash at its end
}

// inner returns the path at the server. It leaves a path without a leading slash unchanged, and the
// server refuses that.
func (c *chroot) inner(path string) string {
	switch {
	case path == "/":
		return c.base
	case strings.HasPrefix(path, "/"):
		return c.base + path
	}
	return path
}

// innerOf is inner for a node to be created.
func (c *chroot) innerOf(path string, flags int32) string {
	if path == "/" && flags&zk.FlagSequence != 0 {
		return c.base + "/" // a child of the root; without the slash it would be its sibling
	}
	return c.inner(path)
}

// outer returns the caller's path for a path at the server.
func (c *chroot) outer(path string) string {
	if path == c.base {
		return "/"
	}
	if rest, ok := strings.CutPrefix(path, c.base); ok && strings.HasPrefix(rest, "/") {
		return rest
	}
	return path
}

// watch translates the path of the event of a watch.
func (c *chroot) watch(events <-chan zk.Event) <-chan zk.Event {
	if events == nil {
		return nil
	}
	translated := make(chan zk.Event, 1)
	go func() {
		defer close(translated)
		if ev, ok := <-events; ok {
			ev.Path = c.outer(ev.Path)
			translated <- ev
		}
	}()
	return translated
}

// operation translates an operation of a transaction.
func (c *chroot) operation(op any) any {
	switch op := op.(type) {
	case *zk.CreateRequest:
		inner := *op
		inner.Path = c.innerOf(op.Path, op.Flags)
		return &inner
	case *zk.SetDataRequest:
		inner := *op
		inner.Path = c.inner(op.Path)
		return &inner
	case *zk.DeleteRequest:
		inner := *op
		inner.Path = c.inner(op.Path)
		return &inner
	case *zk.CheckVersionRequest:
		inner := *op
		inner.Path = c.inner(op.Path)
		return &inner
	}
	return op // the client refuses it
}

func (c *chroot) Multi(ops ...any) ([]zk.MultiResponse, error) {
	inner := make([]any, len(ops))
	for i, op := range ops {
		inner[i] = c.operation(op)
	}
	answers, err := c.conn.Multi(inner...)
	for i := range answers {
		answers[i].String = c.outer(answers[i].String)
	}
	return answers, err
}

func (c *chroot) Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	created, err := c.conn.Create(c.innerOf(path, flags), data, flags, acl)
	return c.outer(created), err
}

func (c *chroot) CreateContainer(
	path string, data []byte, flag int32, acl []zk.ACL,
) (string, error) {
	created, err := c.conn.CreateContainer(c.inner(path), data, flag, acl)
	return c.outer(created), err
}

func (c *chroot) Delete(path string, version int32) error {
	return c.conn.Delete(c.inner(path), version)
}

func (c *chroot) Exists(path string) (bool, *zk.Stat, error) { return c.conn.Exists(c.inner(path)) }

func (c *chroot) ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error) {
	found, stat, events, err := c.conn.ExistsW(c.inner(path))
	return found, stat, c.watch(events), err
}

func (c *chroot) Get(path string) ([]byte, *zk.Stat, error) { return c.conn.Get(c.inner(path)) }

func (c *chroot) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	data, stat, events, err := c.conn.GetW(c.inner(path))
	return data, stat, c.watch(events), err
}

func (c *chroot) Set(path string, data []byte, version int32) (*zk.Stat, error) {
	return c.conn.Set(c.inner(path), data, version)
}

func (c *chroot) Children(path string) ([]string, *zk.Stat, error) {
	return c.conn.Children(c.inner(path))
}

func (c *chroot) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	names, stat, events, err := c.conn.ChildrenW(c.inner(path))
	return names, stat, c.watch(events), err
}

func (c *chroot) Sync(path string) (string, error) {
	synced, err := c.conn.Sync(c.inner(path))
	return c.outer(synced), err
}

func (c *chroot) SessionID() int64 { return c.conn.SessionID() }

func (c *chroot) State() zk.State { return c.conn.State() }
