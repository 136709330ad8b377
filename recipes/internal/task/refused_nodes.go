package task

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// refusedNodes holds the nodes of a background loop that the server has refused to read. A refused
// node must not keep the loop from reading the others. Refused nodes become due again after pauses
// that grow to ten seconds.
type refusedNodes struct {
	mu    sync.Mutex
	by    map[string]error // the refusals, by path
	tries int              // reads planned in a row
	timer *time.Timer      // to the next read; nil: none is planned
}

// Refused reports whether err is a refusal that concerns one node only. zk.ErrNoNode is no refusal:
// the list of the parent's children shows that the node is missing.
func Refused(ctx context.Context, err error) bool {
	switch {
	case err == nil, ctx.Err() != nil, request.Transient(err):
		return false
	case errors.Is(err, zk.ErrNoNode), errors.Is(err, request.ErrRestart),
		errors.Is(err, request.ErrConnClosed), errors.Is(err, request.ErrClosed):
		return false
	}
	return true
}

// Tolerate records a refusal to read path and returns nil. It returns all other errors.
func (f *refusedNodes) Tolerate(ctx context.Context, path string, err error) error {
	if !Refused(ctx, err) {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by == nil {
		f.by = map[string]error{}
	}
	f.by[path] = err
	return nil
}

// forget drops the refusals of the nodes that are read now.
func (f *refusedNodes) forget(d Due) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d.All {
		clear(f.by)
	}
	for _, path := range d.Paths {
		delete(f.by, path)
	}
}

// First returns the refusal of the first path in alphabetical order, or nil.
func (f *refusedNodes) First() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.by) == 0 {
		return nil
	}
	return f.by[slices.Min(slices.Collect(maps.Keys(f.by)))]
}

// LongestRefusalPause is the longest pause before refused nodes are read again.
const LongestRefusalPause = 10 * time.Second

// scheduleRetry makes refused nodes due again later, unless that is scheduled already.
func (f *refusedNodes) scheduleRetry(markDue func(paths ...string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case len(f.by) == 0:
		f.tries = 0
		return
	case f.timer != nil:
		return
	}
	pause := request.Doubled(request.RetryFirst, LongestRefusalPause, f.tries)
	f.tries++
	f.timer = time.AfterFunc(pause, func() {
		if paths := f.planned(); len(paths) > 0 {
			markDue(paths...) // at once: a step in between would see a part of them
		}
	})
}

// planned drops the timer, and returns the refused paths.
func (f *refusedNodes) planned() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.timer = nil
	return slices.Sorted(maps.Keys(f.by))
}

// end stops the timer.
func (f *refusedNodes) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer != nil {
		f.timer.Stop()
	}
}
