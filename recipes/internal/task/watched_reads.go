package task

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// DataOf reads a node, and makes the node due when it changes. It sets no second watch if one is
// armed.
func (w *wakeups) DataOf(
	ctx context.Context, r *request.Sender, path string,
) ([]byte, *zk.Stat, error) {
	if w.Watching(path, WatchData) {
		return r.Get(ctx, path)
	}
	n, err := r.GetW(ctx, path)
	if err == nil {
		w.Add(path, WatchData, n.Watch)
	}
	return n.Data, n.Stat, err
}

// ChildrenOf lists the children of a node, sorted, and makes the node due when the children change.
func (w *wakeups) ChildrenOf(
	ctx context.Context, r *request.Sender, path string,
) (names []string, err error) {
	if w.Watching(path, WatchChildren) {
		names, err = r.Children(ctx, path)
	} else {
		var watch <-chan zk.Event
		names, watch, err = r.ChildrenW(ctx, path)
		if err == nil {
			w.Add(path, WatchChildren, watch)
		}
	}
	slices.Sort(names)
	return names, err
}

// Listing is childrenOf for a directory that may be missing. A missing directory has no children,
// and becomes due when it is created.
func (w *wakeups) Listing(ctx context.Context, r *request.Sender, path string) ([]string, error) {
	for {
		names, err := w.ChildrenOf(ctx, r, path)
		if !errors.Is(err, zk.ErrNoNode) || w.Watching(path, WatchAbsence) {
			return names, request.Ignore(err, zk.ErrNoNode)
		}
		stat, watch, err := r.ExistsW(ctx, path)
		if err != nil {
			return nil, err
		}
		if stat == nil {
			w.Add(path, WatchAbsence, watch)
			return nil, nil
		}
	}
}
