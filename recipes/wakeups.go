package recipes

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// watchKind is the kind of a watch on a node.
type watchKind int

const (
	watchData     watchKind = iota // getW
	watchChildren                  // childrenW
	watchAbsence                   // existsW, on a node that is missing
)

// wakeups collects for a background loop the paths that it has to look at again: it watches any
// number of nodes for one goroutine. The result does not depend on the order in which goroutines
// run: the end of a session, which ends all watches at the same moment, is one wake-up, and so is
// the deletion of a node, which ends all watches on it.
type wakeups struct {
	l      *lifecycle
	bell   chan struct{} // rung when something is due
	looked time.Time     // when everything was due last; of the loop's goroutine

	mu    sync.Mutex
	armed map[string][]*armedWatch // by path
	all   bool                     // everything is due
	paths map[string]bool
}

// armedWatch is a watch that has not fired.
type armedWatch struct{ watchKind watchKind }

// due are the paths to look at again.
type due struct {
	all   bool     // everything: at the start, after a new session or a failure, at a recheck
	paths []string // otherwise these, sorted
}

// newWakeups begins with everything due.
func newWakeups(l *lifecycle) *wakeups {
	w := &wakeups{
		l: l, bell: make(chan struct{}, 1),
		armed: map[string][]*armedWatch{}, paths: map[string]bool{},
	}
	w.nudge("")
	return w
}

// nudge makes paths due together, and everything if one of them is empty. Any goroutine may call
// it, for instance when the desired state has changed.
func (w *wakeups) nudge(paths ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mark(paths...)
}

// mark makes paths due and rings. The caller has locked mu.
func (w *wakeups) mark(paths ...string) {
	for _, path := range paths {
		if path == "" {
			w.all = true
		} else {
			w.paths[path] = true
		}
	}
	select {
	case w.bell <- struct{}{}:
	default: // it was rung
	}
}

// watching reports whether a watch is armed, so that another one need not be set: the client cannot
// take a watch back.
func (w *wakeups) watching(path string, s watchKind) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.armed[path], func(r *armedWatch) bool { return r.watchKind == s })
}

// add waits for a watch in the background, until it fires or the recipe is closed.
func (w *wakeups) add(path string, s watchKind, watch <-chan zk.Event) {
	r := &armedWatch{s}
	w.mu.Lock()
	w.armed[path] = append(w.armed[path], r)
	w.mu.Unlock()
	w.l.beginCleanUp()
	go func() {
		defer w.l.end()
		select {
		case ev := <-watch:
			w.fire(path, r, ev)
		case <-w.l.life.Done():
		}
	}()
}

// fire makes a path due after an event, unless another event of the same change has done so.
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
	w.mark(path)
}

// next waits until a path is due, and takes all that are. Everything is due when it has not been
// for as long as recheck, however often single nodes have: a lost event may have been that of
// another node.
func (w *wakeups) next(ctx context.Context, recheck time.Duration) (due, error) {
	var again <-chan time.Time
	if recheck > 0 {
		timer := time.NewTimer(time.Until(w.looked.Add(recheck)))
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-w.bell:
	case <-again:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return due{}, context.Cause(ctx)
	}
	if recheck > 0 && time.Since(w.looked) >= recheck {
		w.nudge("")
	}
	d := w.take()
	if d.all {
		w.looked = time.Now()
	}
	return d, nil
}

// take returns the due paths, which are not due any more then.
func (w *wakeups) take() due {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.bell:
	default:
	}
	d := due{all: w.all, paths: slices.Sorted(maps.Keys(w.paths))}
	w.all = false
	clear(w.paths)
	return d
}
