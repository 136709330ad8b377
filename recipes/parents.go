package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

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

// ensure creates the node at path and those above it, persistent and without
// data, where they are missing. An existing node is left as it is. It returns
// zk.ErrNoNode if somebody deletes a level while the next one is created.
func (r *requests) ensure(ctx context.Context, path string, acl []zk.ACL) error {
	if path == "/" {
		return nil
	}
	for at := 1; at <= len(path); at++ {
		if at < len(path) && path[at] != '/' {
			continue
		}
		if err := r.ensureOne(ctx, path[:at], acl); err != nil {
			return fmt.Errorf("create parent %s: %w", path[:at], err)
		}
	}
	return nil
}

// ensureOne creates one level. Creating a fixed name is safe to repeat.
func (r *requests) ensureOne(ctx context.Context, path string, acl []zk.ACL) error {
	err := r.repeat(ctx, func() error {
		_, err := r.conn.Create(path, nil, 0, acl)
		return err
	})
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}
