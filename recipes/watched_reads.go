package recipes

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"
)

// dataOf reads a node, and makes the node due when it changes. It sets no second watch if one is
// armed.
func (w *wakeups) dataOf(ctx context.Context, r *requests, path string) ([]byte, *zk.Stat, error) {
	if w.watching(path, watchData) {
		return r.get(ctx, path)
	}
	n, err := r.getW(ctx, path)
	if err == nil {
		w.add(path, watchData, n.watch)
	}
	return n.data, n.stat, err
}

// childrenOf lists the children of a node, sorted, and makes the node due when the children change.
func (w *wakeups) childrenOf(
	ctx context.Context, r *requests, path string,
) (names []string, err error) {
	if w.watching(path, watchChildren) {
		names, err = r.children(ctx, path)
	} else {
		var watch <-chan zk.Event
		names, watch, err = r.childrenW(ctx, path)
		if err == nil {
			w.add(path, watchChildren, watch)
		}
	}
	slices.Sort(names)
	return names, err
}

// listing is childrenOf for a directory that may be missing. A missing directory has no children,
// and becomes due when it is created.
func (w *wakeups) listing(ctx context.Context, r *requests, path string) ([]string, error) {
	for {
		names, err := w.childrenOf(ctx, r, path)
		if !errors.Is(err, zk.ErrNoNode) || w.watching(path, watchAbsence) {
			return names, ignore(err, zk.ErrNoNode)
		}
		stat, watch, err := r.existsW(ctx, path)
		if err != nil {
			return nil, err
		}
		if stat == nil {
			w.add(path, watchAbsence, watch)
			return nil, nil
		}
	}
}

// ignore returns err, or nil if err is the expected error.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
