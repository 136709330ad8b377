package request

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// BaseName returns the last name of a path, "" for the root.
func BaseName(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// Join appends a child's name to a path, which may be the root.
func Join(path, name string) string {
	return strings.TrimSuffix(path, "/") + "/" + name
}

// Parent returns the path above path, "/" for a child of the root.
func Parent(path string) string {
	at := strings.LastIndex(path, "/")
	if at <= 0 {
		return "/"
	}
	return path[:at]
}

// Ensure creates the node at path and its ancestors, without data, if they are missing. An existing
// node is left as it is. It returns zk.ErrNoNode if a level is deleted before the next level is
// created.
func (r *Sender) Ensure(path string) error {
	err := r.ensureLevels(r.Conn, path)
	c, ok := r.Conn.(*chroot)
	if !ok || path != "/" && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	if err := r.ensureLevels(c.conn, c.base); err != nil {
		return err
	}
	return r.ensureLevels(r.Conn, path)
}

// ensureLevels creates the missing levels of a path, by requests on conn.
func (r *Sender) ensureLevels(conn Conn, path string) error {
	if path == "/" {
		return nil
	}
	for at := 1; at <= len(path); at++ {
		if at < len(path) && path[at] != '/' {
			continue
		}
		if err := r.ensureOne(conn, path[:at]); err != nil {
			return fmt.Errorf("create parent %s: %w", path[:at], err)
		}
	}
	return nil
}

// EnsureDir is Ensure for callers that try again if a level is missing: it returns nil where Ensure
// returns zk.ErrNoNode.
func (r *Sender) EnsureDir(path string) error {
	err := r.Ensure(path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// ensureOne creates one level. Creating a fixed name is safe to repeat.
func (r *Sender) ensureOne(conn Conn, path string) error {
	err := r.Repeat(func() error {
		if r.Opts.Containers {
			_, err := conn.CreateContainer(path, nil, zk.FlagContainer, r.Opts.ACL)
			return err
		}
		_, err := conn.Create(path, nil, 0, r.Opts.ACL)
		return err
	})
	switch {
	case errors.Is(err, zk.ErrNodeExists):
		return nil
	case r.Opts.Containers && err != nil && serverCode(err) == codeUnimplemented:
		r.Opts.Containers = false // the server has none
		return r.ensureOne(conn, path)
	}
	return err
}
