package recipes

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// view is a copy of a part of the tree: a node, its children, or all nodes below it. One loop reads
// the server and changes the view. The watches of its reads wake the loop.
type view struct {
	lifecycle
	loop        *task.Reconciler
	root        string
	depth       int           // levels below the root that are shown
	withoutRoot bool          // only nodes below the root are shown
	ended       chan struct{} // closed with the Conn
	progress    task.LatestValue[progress]

	epoch    request.Epoch       // used by the loop only: the epoch of the latest readAll
	children map[string][]string // used by the loop only: sorted names by directory

	mu      sync.Mutex
	started bool
	session int64 // the session of the latest readAll; 0: none yet
	nodes   map[string]CachedNode
	readers map[*CacheChanges]bool
}

// progress is posted for the callers of Ready.
type progress struct {
	complete bool
	refusal  error // by the server
}

const everything = math.MaxInt

// newView makes a view of the root and depth levels below it.
func newView(conn Conn, kind, path, root string, depth int, opts []Option) *view {
	v := &view{
		lifecycle: newLifecycle(conn, kind, path, opts), root: root, depth: depth,
		ended:    make(chan struct{}),
		children: map[string][]string{},
		nodes:    map[string]CachedNode{},
		readers:  map[*CacheChanges]bool{},
	}
	v.loop = task.NewReconciler(v.tasks)
	v.loop.Step = v.step
	return v
}

// Start begins to read, in the background, until Close. Calling it again changes nothing; after
// Close it returns ErrClosed.
func (v *view) Start() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.started && !v.tasks.Closed() {
		return nil
	}
	if err := v.loop.Start(); err != nil {
		return v.tasks.Explain("start", err)
	}
	v.started = true
	return nil
}

// Ready waits until every node was read once. A missing node counts as read. It returns an error if
// ctx is done, if the cache was not started, if it or the Conn was closed, or if the server has
// refused to show a node. After a refusal the other nodes were read, and the refused ones are tried
// again.
func (v *view) Ready(ctx context.Context) error {
	for {
		p, changed := v.progress.Read()
		if p.complete {
			return nil
		}
		if err := cmp.Or(v.over(), v.unstarted(), p.refusal); err != nil {
			return v.tasks.Explain("wait for", err)
		}
		select {
		case <-changed:
		case <-v.ended:
		case <-v.tasks.Ctx.Done():
		case <-ctx.Done():
			return v.tasks.Explain("wait for", context.Cause(ctx))
		}
	}
}

// unstarted returns an error before Start: nobody would ever read.
func (v *view) unstarted() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.started {
		return errNotStarted
	}
	return nil
}

// over returns the reason why the cache has stopped reading, or nil.
func (v *view) over() error {
	if v.tasks.Closed() {
		return ErrClosed
	}
	select {
	case <-v.ended:
		return ErrConnClosed
	default:
		return nil
	}
}

// Stale reports whether the cache may be out of date for one of these reasons: not all nodes were
// read yet in the present session, the client believes that the connection is down, the latest read
// has failed, the server has refused to show a node, or the cache is closed. It knows nothing of
// notifications that are on their way. The client notices a silent server after two thirds of the
// session timeout.
func (v *view) Stale() bool {
	v.mu.Lock()
	session := v.session
	v.mu.Unlock()
	return v.loop.Stale(session)
}

// Err returns the error of the latest attempt to read, a refusal of a single node included, or nil.
// The attempts go on.
func (v *view) Err() error { return v.tasks.Explain("read", v.loop.Failure()) }

// Changes returns a new reader of the changes, which begins with the nodes of the cache.
func (v *view) Changes() *CacheChanges {
	c := &CacheChanges{
		view: v, signal: make(chan struct{}, 1), closed: make(chan struct{}),
		pending: map[string]*CacheEvent{},
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(v.nodes)) {
		c.push(CacheEvent{NodeAdded, v.nodes[path]})
	}
	if v.session != 0 {
		c.push(CacheEvent{Kind: CacheReady})
	}
	v.readers[c] = true
	return c
}

// node returns a node of the cache.
func (v *view) node(path string) (CachedNode, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	n, ok := v.nodes[path]
	return n.clone(), ok
}

// Nodes returns all nodes as they are shown, sorted by path.
func (v *view) Nodes() []CachedNode {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := make([]CachedNode, 0, len(v.nodes))
	for _, path := range slices.Sorted(maps.Keys(v.nodes)) {
		list = append(list, v.nodes[path].clone())
	}
	return list
}

func (v *view) shows(path string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := v.nodes[path]
	return ok
}

// show puts a node into the cache. A node that was deleted and created again can have the version
// and even the data of the old one, so the zxids tell whether it has changed (CURATOR-391).
func (v *view) show(n CachedNode) {
	v.mu.Lock()
	defer v.mu.Unlock()
	before, known := v.nodes[n.Path]
	v.nodes[n.Path] = n
	switch {
	case !known:
		v.notifyReaders(CacheEvent{NodeAdded, n})
	case before.Stat.Mzxid != n.Stat.Mzxid:
		v.notifyReaders(CacheEvent{NodeUpdated, n})
	}
}

// drop removes a node and all nodes below it from the cache.
func (v *view) drop(path string) {
	for _, name := range v.children[path] {
		v.drop(request.Join(path, name))
	}
	delete(v.children, path)
	v.mu.Lock()
	defer v.mu.Unlock()
	if n, ok := v.nodes[path]; ok {
		delete(v.nodes, path)
		v.notifyReaders(CacheEvent{NodeRemoved, n})
	}
}

// notifyReaders gives an event to each reader. The caller holds mu. The order of the readers has no
// effect: each has its own queue and signal.
func (v *view) notifyReaders(e CacheEvent) {
	for c := range v.readers {
		c.push(e)
	}
}
