package linearizability

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

// CacheLook is the content of a client's cache at one moment.
type CacheLook struct {
	Stale  bool          `json:",omitempty"` // the cache reports that it is stale
	Down   bool          `json:",omitempty"` // the client knew that it is not connected
	Events []CacheChange `json:",omitempty"` // since the look before
	Nodes  []CacheNode   `json:",omitempty"`
}

// CacheNode is a znode as a cache shows it. Zxid is its mzxid.
type CacheNode struct {
	Path, Data string
	Zxid       int64
}

// CacheChange is an event of a cache. Kind is "added", "updated" or "removed". Node is the znode as
// the cache shows it after the event; for "removed", before it.
type CacheChange struct {
	Kind string
	Node CacheNode
}

// String returns the look as it is written in the output of an operation.
func (l CacheLook) String() string {
	text, err := json.Marshal(l)
	if err != nil { // it is made of strings and numbers
		panic(fmt.Sprintf("linearizability: marshal %#v: %v", l, err))
	}
	return string(text)
}

// readLook is the inverse of String.
func readLook(op Op) CacheLook {
	var l CacheLook
	if err := json.Unmarshal([]byte(op.Output), &l); err != nil {
		panic(fmt.Sprintf("linearizability: %s: the output is %q; expected a CacheLook: %v",
			describe(op), op.Output, err))
	}
	return l
}

// find returns the state of a znode in the look.
func (l CacheLook) find(path string) nodeState {
	for _, n := range l.Nodes {
		if n.Path == path {
			return nodeState{exists: true, data: n.Data, zxid: n.Zxid}
		}
	}
	return nodeState{}
}

// Cache claims to be a set of caches of one part of the tree. Each client has one cache. Its calls
// are [ops.Ready], [ops.Look] and [ops.Settle].
//
//   - View: the state of a znode in a look existed on the server before the look returned, and
//     later looks show no older state. Each znode is judged by itself: caches do not promise more.
//     Without the log the zxids must not go back.
//   - Belief: no cache reports that it is up to date while its client knows that it is
//     disconnected.
//   - Delivery: the events since the last look, applied to that look, give the present look, and
//     each event has the right kind.
//   - Liveness: every call returns, and a look that has settled shows the present tree.
//   - Orphans: sessions and goroutines, but not watches, which caches leave.
type Cache struct {
	// Path is the cached znode, or the directory.
	Path string
	// Levels is the number of levels below Path that are shown; below 0 means all.
	Levels int
	// Rootless: caches show only the znodes below Path.
	Rootless bool
	// Events: the events in the looks are judged.
	Events bool
	// Patience: a settled look this long after the last change must show the present tree. It must
	// be longer than the faults last. 0 means that this is not judged.
	Patience time.Duration
}

func (claims Cache) judge(h History, left *Leftovers) Report {
	t := newCacheTable(h.sorted(), claims)
	var r Report
	r.add(t.judgeBelief(), t.judgeView())
	if claims.Events {
		r.add(t.judgeEvents())
	}
	if v, bad := t.wrongFinalLook(); bad {
		r.add(v)
	} else {
		r.add(judgeReturns(t.history, left, nil)...)
	}
	if left != nil {
		r.add(judgeOrphans(left, nil, nil, anyWatch))
	}
	return r
}

// cacheTable is one history of caches: the looks, and the states of each znode.
type cacheTable struct {
	history History
	claims  Cache
	known   bool // the server's log is known
	looks   []cacheLook
	paths   []string // all paths in the looks and the log, sorted
	states  map[string][]nodeState
	last    time.Duration // of the last change
}

// cacheLook is a look that returned.
type cacheLook struct {
	op Op
	CacheLook
}

// nodeState is the state of a znode from a step on.
type nodeState struct {
	from   int64
	exists bool
	data   string
	zxid   int64
}

func newCacheTable(h History, claims Cache) *cacheTable {
	t := &cacheTable{
		history: h, claims: claims, known: h.Server != nil, states: map[string][]nodeState{},
	}
	for _, op := range h.Ops {
		if op.ok() && (op.Kind == ops.Look || op.Kind == ops.Settle) {
			look := readLook(op)
			t.looks = append(t.looks, cacheLook{op, look})
			for _, n := range look.Nodes {
				t.addAbsent(n.Path)
			}
		}
	}
	for _, e := range h.Server {
		if t.inScope(e) {
			t.addAbsent(e.Path)
			t.last = max(t.last, e.Time)
			state := nodeState{e.Step, e.Kind != NodeDeleted, e.Data, e.Zxid}
			t.states[e.Path] = append(t.states[e.Path], state)
		}
	}
	slices.Sort(t.paths)
	return t
}

// addAbsent begins the list of states of a znode with the state that it does not exist.
func (t *cacheTable) addAbsent(path string) {
	if t.states[path] == nil {
		t.paths = append(t.paths, path)
		t.states[path] = []nodeState{{}}
	}
}

// inScope reports whether an event is about a znode that the cache shows.
func (t *cacheTable) inScope(e ServerEvent) bool {
	switch {
	case IsSessionEvent(e):
		return false
	case e.Path == t.claims.Path:
		return !t.claims.Rootless
	case !below(t.claims.Path, e.Path):
		return false
	}
	relative := strings.TrimPrefix(strings.TrimPrefix(e.Path, t.claims.Path), "/")
	return t.claims.Levels < 0 || strings.Count(relative, "/") < t.claims.Levels
}

// is reports whether the znode looked like this.
func (s nodeState) is(shown nodeState) bool {
	return s.exists == shown.exists && (!s.exists || s.data == shown.data && s.zxid == shown.zxid)
}

func (s nodeState) String() string {
	if !s.exists {
		return "nothing"
	}
	return fmt.Sprintf("%q of zxid %d", s.data, s.zxid)
}
