package linearizability

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The kinds of operations of a cache. The output of a look is a [CacheLook].
const (
	KindReady  = "ready"  // wait until the cache has read everything once
	KindLook   = "look"   // see what the cache shows
	KindSettle = "settle" // wait until faults are over and the cache does not call itself stale, then look
)

// CacheLook is what a client saw in its cache at one moment.
type CacheLook struct {
	Stale  bool          `json:",omitempty"` // what the cache says of itself
	Down   bool          `json:",omitempty"` // the client knew, at the same moment, that it is not connected
	Events []CacheChange `json:",omitempty"` // that it was told of since the look before
	Nodes  []CacheNode   `json:",omitempty"`
}

// CacheNode is a znode as a cache shows it. Zxid is its mzxid.
type CacheNode struct {
	Path, Data string
	Zxid       int64
}

// CacheChange is an event that a cache told of. Kind is "added", "updated" or
// "removed"; Node is what it shows from now on, or has shown.
type CacheChange struct {
	Kind string
	Node CacheNode
}

// String is the look as histories have it.
func (l CacheLook) String() string {
	text, err := json.Marshal(l)
	if err != nil {
		panic(fmt.Sprintf("linearizability: marshal %#v: %v", l, err)) // it is made of strings and numbers
	}
	return string(text)
}

// readLook is the inverse of String.
func readLook(op Op) CacheLook {
	var l CacheLook
	if err := json.Unmarshal([]byte(op.Output), &l); err != nil {
		panic(fmt.Sprintf("linearizability: %s: the output is %q; expected a CacheLook: %v", describe(op), op.Output, err))
	}
	return l
}

// Cache say what a cache claims to show.
type Cache struct {
	// Path is the cached node, or the directory.
	Path string
	// Levels below Path that are shown; below 0 means all.
	Levels int
	// Rootless: Path itself is not shown, only what is below.
	Rootless bool
	// Events: what the looks say of events is judged.
	Events bool
	// Patience is how long after the last change a look that has settled must show
	// the tree as it is: longer than the faults last. 0 means that it is not judged.
	Patience time.Duration
}

// JudgeCache judges the caches of one part of the tree, one for each client:
// operations of the kinds [KindReady], [KindLook] and [KindSettle]; others are
// ignored. Rest may be nil. It panics if the output of a look is no [CacheLook].
//
//	view      what a look shows of a znode the server had before the look returned,
//	          and what it shows later is not older than that. Each znode by itself:
//	          caches do not promise more. Without the log it is the zxids that must
//	          not go back.
//	belief    no cache says that it is up to date while its client knows that it is
//	          not connected
//	delivery  events, applied to what was shown before, give what is shown, and each
//	          is of the right kind
//	liveness  every call returns, and what has settled is the tree as it is
//	orphans   sessions and goroutines; caches leave watches
func (opts Cache) judge(h History, rest *Leftovers) Report {
	c := newCacheCase(h.sorted(), opts)
	r := Report{Verdicts: []Verdict{c.judgeBelief(), c.judgeView()}}
	if opts.Events {
		r.insert(c.judgeEvents())
	}
	verdicts := c.history.judgeReturns(rest, nil)
	if v := c.judgeSettled(); v.Status == Violated {
		verdicts = []Verdict{v}
	}
	r.Verdicts = append(r.Verdicts, verdicts...)
	if rest != nil {
		r.Verdicts = append(r.Verdicts, judgeOrphans(rest, nil, nil, func(string) bool { return true }))
	}
	return r
}

// cacheCase is one history of caches, prepared for judging.
type cacheCase struct {
	history History
	opts    Cache
	known   bool
	looks   []cacheLook
	paths   []string // every path in question, sorted
	truth   map[string][]nodeState
	last    time.Duration // of the last change
}

// cacheLook is a look that returned.
type cacheLook struct {
	op Op
	CacheLook
}

// nodeState is what a znode was from a step on.
type nodeState struct {
	from   int64
	exists bool
	data   string
	zxid   int64
}

func newCacheCase(h History, opts Cache) *cacheCase {
	c := &cacheCase{history: h, opts: opts, known: h.Server != nil, truth: map[string][]nodeState{}}
	for _, op := range h.Ops {
		if op.ok() && (op.Kind == KindLook || op.Kind == KindSettle) {
			look := readLook(op)
			c.looks = append(c.looks, cacheLook{op, look})
			for _, n := range look.Nodes {
				c.mention(n.Path)
			}
		}
	}
	for _, e := range h.Server {
		if c.inScope(e) {
			c.mention(e.Path)
			c.last = max(c.last, e.Time)
			c.truth[e.Path] = append(c.truth[e.Path], nodeState{e.Step, e.Kind != NodeDeleted, e.Data, e.Zxid})
		}
	}
	slices.Sort(c.paths)
	return c
}

// mention begins the story of a znode: it does not exist.
func (c *cacheCase) mention(path string) {
	if c.truth[path] == nil {
		c.paths = append(c.paths, path)
		c.truth[path] = []nodeState{{}}
	}
}

// inScope reports whether an event is about a znode that the cache shows.
func (c *cacheCase) inScope(e ServerEvent) bool {
	if e.Kind != NodeCreated && e.Kind != NodeDeleted && e.Kind != DataChanged {
		return false
	}
	if e.Path == c.opts.Path {
		return !c.opts.Rootless
	}
	if !below(c.opts.Path, e.Path) {
		return false
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(e.Path, c.opts.Path), "/")
	return c.opts.Levels < 0 || strings.Count(rest, "/") < c.opts.Levels
}

// find returns what the look shows of a znode.
func (l CacheLook) find(path string) nodeState {
	for _, n := range l.Nodes {
		if n.Path == path {
			return nodeState{exists: true, data: n.Data, zxid: n.Zxid}
		}
	}
	return nodeState{}
}

// is reports whether the znode looked like that.
func (s nodeState) is(shown nodeState) bool {
	return s.exists == shown.exists && (!s.exists || s.data == shown.data && s.zxid == shown.zxid)
}

func (s nodeState) String() string {
	if !s.exists {
		return "nothing"
	}
	return fmt.Sprintf("%q of zxid %d", s.data, s.zxid)
}
