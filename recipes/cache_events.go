package recipes

import (
	"bytes"
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// CachedNode is a node as a cache shows it.
type CachedNode struct {
	Path string
	Data []byte
	// Stat is the node's Stat at the time when the data was read. NumChildren and Cversion may be
	// older than the children that the cache shows.
	Stat zk.Stat
}

// Name returns the last element of the path, for example the key of a setting.
func (n CachedNode) Name() string { return request.BaseName(n.Path) }

// clone returns a copy with its own data.
func (n CachedNode) clone() CachedNode {
	n.Data = bytes.Clone(n.Data)
	return n
}

// CacheEventKind is the kind of a change of a cache.
type CacheEventKind int

const (
	// NodeAdded says that the cache shows a new node.
	NodeAdded CacheEventKind = iota + 1
	// NodeUpdated says that the mzxid of a node has changed: the data was set, or the node was
	// deleted and created again. In the second case Czxid differs, too.
	NodeUpdated
	// NodeRemoved says that the cache no longer shows a node. The event has the last state of the
	// node.
	NodeRemoved
	// CacheReady says that the cache has read everything once. Each reader gets it once, after the
	// events of the first nodes. The event has no node.
	CacheReady
)

// String returns "added", "updated", "removed" or "ready".
func (k CacheEventKind) String() string {
	switch k {
	case NodeAdded:
		return "added"
	case NodeUpdated:
		return "updated"
	case NodeRemoved:
		return "removed"
	case CacheReady:
		return "ready"
	}
	return "nothing"
}

// CacheEvent is one change of a cache.
type CacheEvent struct {
	Kind CacheEventKind
	Node CachedNode
}

// CacheChanges is one reader of the changes of a cache. The first events add the nodes that the
// cache shows at the beginning. A caller that applies the events in order to an empty map gets the
// nodes of the cache.
//
// A slow reader costs no more memory than the cache itself, as unread events of one node are
// joined: added and updated give added; added and removed give nothing; updated and removed give
// removed; removed and added give updated.
type CacheChanges struct {
	view   *view
	signal chan struct{} // has a token while there are events
	closed chan struct{}

	// Guarded by the view's mutex.
	queue     []*CacheEvent // kind 0: cancelled
	cancelled int           // the number of cancelled events
	pending   map[string]*CacheEvent
}

// Next waits for the next event. It returns an error when ctx is done. After the cache, the Conn or
// the reader was closed, it returns the remaining events and then an error.
func (c *CacheChanges) Next(ctx context.Context) (CacheEvent, error) {
	for {
		over := c.over() // before the last look
		if e, ok := c.TryNext(); ok {
			return e, nil
		}
		if over != nil {
			return CacheEvent{}, c.view.tasks.Explain("wait for a change of", over)
		}
		select {
		case <-c.signal:
		case <-c.closed:
		case <-c.view.ended:
		case <-c.view.tasks.Ctx.Done():
		case <-ctx.Done():
			return CacheEvent{}, c.view.tasks.Explain("wait for a change of", context.Cause(ctx))
		}
	}
}

// over returns the reason why there will be no more events, or nil.
func (c *CacheChanges) over() error {
	select {
	case <-c.closed:
		return ErrClosed
	default:
		return c.view.over()
	}
}

// TryNext returns the next event if there is one.
func (c *CacheChanges) TryNext() (CacheEvent, bool) {
	c.view.mu.Lock()
	defer c.view.mu.Unlock()
	for len(c.queue) > 0 {
		e := c.queue[0]
		c.queue = c.queue[1:]
		if e.Kind == 0 {
			c.cancelled--
			continue
		}
		delete(c.pending, e.Node.Path)
		c.notify()
		e.Node = e.Node.clone()
		return *e, true
	}
	return CacheEvent{}, false
}

// Close ends the reader and drops the events that were not read.
func (c *CacheChanges) Close() {
	c.view.mu.Lock()
	defer c.view.mu.Unlock()
	if !c.view.readers[c] {
		return
	}
	delete(c.view.readers, c)
	c.queue, c.pending, c.cancelled = nil, nil, 0
	close(c.closed)
}

// push adds an event to the queue. The caller holds the view's mutex.
func (c *CacheChanges) push(e CacheEvent) {
	before := c.pending[e.Node.Path]
	if before == nil || e.Kind == CacheReady {
		c.queue = append(c.queue, &e)
		if e.Kind != CacheReady {
			c.pending[e.Node.Path] = &e
		}
		c.notify()
		return
	}
	before.Kind, before.Node = joined(before.Kind, e.Kind), e.Node
	if before.Kind == 0 {
		delete(c.pending, e.Node.Path)
		c.cancelled++
		c.compact()
	}
}

// compact removes the cancelled events from the queue when they are more than half of it. Otherwise
// nodes that come and go would fill the queue of a slow reader.
func (c *CacheChanges) compact() {
	if 2*c.cancelled > len(c.queue) {
		c.queue = slices.DeleteFunc(c.queue, func(e *CacheEvent) bool { return e.Kind == 0 })
		c.cancelled = 0
	}
}

// joined returns the kind of two successive changes taken together; 0 means no change.
func joined(first, second CacheEventKind) CacheEventKind {
	switch {
	case first == NodeAdded && second == NodeRemoved:
		return 0
	case first == NodeAdded:
		return NodeAdded
	case first == NodeRemoved:
		return NodeUpdated
	}
	return second
}

func (c *CacheChanges) notify() {
	select {
	case c.signal <- struct{}{}:
	default: // it has a token already
	}
}
