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

// watchKind is the kind of a watch on a node.
type watchKind int

// The kinds of watches.
const (
	WatchData     watchKind = iota // GetW
	WatchChildren                  // ChildrenW
	WatchAbsence                   // ExistsW, on a node that is missing
)

// wakeups watches any number of nodes for a background loop, and collects the paths that the loop
// has to read again. The result does not depend on the order in which goroutines run. The end of a
// session ends all watches at the same moment, and is one wake-up. The deletion of a node ends all
// watches on it, and is one wake-up, too.
type wakeups struct {
	group  *Group
	signal chan struct{} // has a token while something is due
	looked time.Time     // when everything was due last; of the loop's goroutine

	mu    sync.Mutex
	armed map[string][]*armedWatch // by path
	all   bool                     // everything is due
	paths map[string]bool
}

// armedWatch is a watch that has not fired.
type armedWatch struct{ kind watchKind }

// Due holds the paths to read again.
type Due struct {
	All   bool     // everything: at the start, after a new session or a failure, at a recheck
	Paths []string // otherwise these, sorted
}

// Has reports whether a path has to be read again.
func (d Due) Has(path string) bool { return d.All || slices.Contains(d.Paths, path) }

// newWakeups returns a wakeups with everything due.
func newWakeups(g *Group) *wakeups {
	w := &wakeups{
		group: g, signal: make(chan struct{}, 1),
		armed: map[string][]*armedWatch{}, paths: map[string]bool{},
	}
	w.MarkDue("")
	return w
}

// MarkDue makes paths due together. An empty path makes everything due. Any goroutine may call
// MarkDue, for instance when the wanted state has changed.
func (w *wakeups) MarkDue(paths ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.addDue(paths...)
}

// addDue makes paths due and signals it. The caller has locked mu.
func (w *wakeups) addDue(paths ...string) {
	for _, path := range paths {
		if path == "" {
			w.all = true
		} else {
			w.paths[path] = true
		}
	}
	select {
	case w.signal <- struct{}{}:
	default: // it is signalled already
	}
}

// Watching reports whether a watch is armed. Then no other watch is set, as the client cannot take
// a watch back.
func (w *wakeups) Watching(path string, kind watchKind) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.armed[path], func(r *armedWatch) bool { return r.kind == kind })
}

// Add waits for a watch in the background, until it fires or the recipe is closed.
func (w *wakeups) Add(path string, kind watchKind, watch <-chan zk.Event) {
	r := &armedWatch{kind}
	w.mu.Lock()
	w.armed[path] = append(w.armed[path], r)
	w.mu.Unlock()
	w.group.BeginCleanUp()
	go func() {
		defer w.group.End()
		select {
		case ev := <-watch:
			w.fire(path, r, ev)
		case <-w.group.Ctx.Done():
		}
	}()
}

// fire makes a path due after an event, unless another event of the same change has made it due.
func (w *wakeups) fire(path string, r *armedWatch, ev zk.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.Index(w.armed[path], r)
	switch {
	case at < 0:
		return
	case ev.Err != nil:
		clear(w.armed)
		path = ""
	case ev.Type == zk.EventNodeDeleted:
		delete(w.armed, path)
	default:
		w.armed[path] = slices.Delete(w.armed[path], at, at+1)
	}
	w.addDue(path)
}

// next waits until a path is due, and takes all due paths. Everything becomes due when the interval
// recheck has passed since everything was due last. Events of single nodes do not extend the
// interval: the event of another node may have been lost.
func (w *wakeups) next(ctx context.Context, recheck time.Duration) (Due, error) {
	var again <-chan time.Time
	if recheck > 0 {
		timer := time.NewTimer(time.Until(w.looked.Add(recheck)))
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-w.signal:
	case <-again:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return Due{}, context.Cause(ctx)
	}
	if recheck > 0 && time.Since(w.looked) >= recheck {
		w.MarkDue("")
	}
	d := w.take()
	if d.All {
		w.looked = time.Now()
	}
	return d, nil
}

// take returns the due paths. Afterwards no path is due.
func (w *wakeups) take() Due {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.signal:
	default:
	}
	d := Due{All: w.all, Paths: slices.Sorted(maps.Keys(w.paths))}
	w.all = false
	clear(w.paths)
	return d
}

// DataOf reads a node, and makes the node due when it changes. It sets no second watch if one is
// armed.
func (w *wakeups) DataOf(r *request.Sender, path string) ([]byte, *zk.Stat, error) {
	if w.Watching(path, WatchData) {
		return r.Get(path)
	}
	n, err := r.GetW(path)
	if err == nil {
		w.Add(path, WatchData, n.Watch)
	}
	return n.Data, n.Stat, err
}

// ChildrenOf lists the children of a node, sorted, and makes the node due when the children change.
func (w *wakeups) ChildrenOf(r *request.Sender, path string) (names []string, err error) {
	if w.Watching(path, WatchChildren) {
		names, err = r.Children(path)
	} else {
		var watch <-chan zk.Event
		names, watch, err = r.ChildrenW(path)
		if err == nil {
			w.Add(path, WatchChildren, watch)
		}
	}
	slices.Sort(names)
	return names, err
}

// Listing is ChildrenOf for a directory that may be missing. A missing directory has no children,
// and becomes due when it is created.
func (w *wakeups) Listing(r *request.Sender, path string) ([]string, error) {
	for {
		names, err := w.ChildrenOf(r, path)
		if !errors.Is(err, zk.ErrNoNode) || w.Watching(path, WatchAbsence) {
			return names, request.Ignore(err, zk.ErrNoNode)
		}
		stat, watch, err := r.ExistsW(path)
		if err != nil {
			return nil, err
		}
		if stat == nil {
			w.Add(path, WatchAbsence, watch)
			return nil, nil
		}
	}
}
