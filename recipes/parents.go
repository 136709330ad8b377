package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// baseName returns the last name of a path, "" for the root.
func baseName(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// join appends a child's name to a path, which may be the root.
func join(path, name string) string {
	return strings.TrimSuffix(path, "/") + "/" + name
}

// parent returns the path above path, "/" for a child of the root.
func parent(path string) string {
	at := strings.LastIndex(path, "/")
	if at <= 0 {
		return "/"
	}
	return path[:at]
}

// ensure creates the node at path and its ancestors, without data, if they are missing. An existing
// node is left as it is. It returns zk.ErrNoNode if a level is deleted before the next level is
// created.
func (r *requests) ensure(ctx context.Context, path string) error {
	err := r.ensureLevels(ctx, r.conn, path)
	c, ok := r.conn.(*chroot)
	if !ok || path != "/" && !errors.Is(err, zk.ErrNoNode) {
		return err
	}
	if err := r.ensureLevels(ctx, c.conn, c.base); err != nil {
		return err
	}
	return r.ensureLevels(ctx, r.conn, path)
}

// ensureLevels is ensure for paths of conn.
func (r *requests) ensureLevels(ctx context.Context, conn Conn, path string) error {
	if path == "/" {
		return nil
	}
	for at := 1; at <= len(path); at++ {
		if at < len(path) && path[at] != '/' {
			continue
		}
		if err := r.ensureOne(ctx, conn, path[:at]); err != nil {
			return fmt.Errorf("create parent %s: %w", path[:at], err)
		}
	}
	return nil
}

// ensureDir is ensure for callers that try again if a level is missing: it returns nil where ensure
// returns zk.ErrNoNode.
func (r *requests) ensureDir(ctx context.Context, path string) error {
	err := r.ensure(ctx, path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// ensureOne creates one level. Creating a fixed name is safe to repeat.
func (r *requests) ensureOne(ctx context.Context, conn Conn, path string) error {
	err := r.repeat(ctx, func() error {
		if r.opts.containers {
			_, err := conn.CreateContainer(path, nil, zk.FlagContainer, r.opts.acl)
			return err
		}
		_, err := conn.Create(path, nil, 0, r.opts.acl)
		return err
	})
	switch {
	case errors.Is(err, zk.ErrNodeExists):
		return nil
	case r.opts.containers && err != nil && serverCode(err) == codeUnimplemented:
		r.opts.containers = false // the server has none
		return r.ensureOne(ctx, conn, path)
	}
	return err
}
