package cache

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// Look is the content of a client's cache at one moment.
type Look struct {
	Stale  bool     `json:",omitempty"` // the cache reports that it is stale
	Down   bool     `json:",omitempty"` // the client knew that it is not connected
	Events []Change `json:",omitempty"` // since the look before
	Nodes  []Node   `json:",omitempty"`
}

// Node is a znode as a cache shows it. Zxid is its mzxid.
type Node struct {
	Path, Data string
	Zxid       int64
}

// Change is an event of a cache. Kind is "added", "updated" or "removed". Node is the znode as
// the cache shows it after the event; for "removed", before it.
type Change struct {
	Kind string
	Node Node
}

// String returns the look as it is written in the output of an operation.
func (l Look) String() string {
	text, err := json.Marshal(l)
	if err != nil { // it is made of strings and numbers
		panic(fmt.Sprintf("linearizability: marshal %#v: %v", l, err))
	}
	return string(text)
}

// readLook is the inverse of String.
func readLook(op lin.Op) Look {
	var l Look
	if err := json.Unmarshal([]byte(op.Output), &l); err != nil {
		panic(fmt.Sprintf("linearizability: %s: the output is %q; expected a CacheLook: %v",
			judging.Describe(op), op.Output, err))
	}
	return l
}

// find returns the state of a znode in the look.
func (l Look) find(path string) nodeState {
	for _, n := range l.Nodes {
		if n.Path == path {
			return nodeState{exists: true, data: n.Data, zxid: n.Zxid}
		}
	}
	return nodeState{}
}

// Claims claims to be a set of caches of one part of the tree. Each client has one cache. Its calls
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
type Claims struct {
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

// Properties implements [lin.Claims].
func (claims Claims) Properties() []string {
	list := []string{lin.Belief, lin.View, lin.Liveness, lin.Orphans}
	if claims.Events {
		list = append(list, lin.Delivery)
	}
	return judging.Properties(list...)
}

// Judge implements [lin.Claims].
func (claims Claims) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	t := newTable(h.Sorted(), claims)
	var r lin.Report
	r.Add(t.judgeBelief(), t.judgeView())
	if claims.Events {
		r.Add(t.judgeEvents())
	}
	if v, bad := t.wrongFinalLook(); bad {
		r.Add(v)
	} else {
		r.Add(judging.Returns(t.history, left, nil)...)
	}
	if left != nil {
		r.Add(judging.Orphans(left, nil, nil, judging.AnyWatch))
	}
	return r
}

// table is one history of caches: the looks, and the states of each znode.
type table struct {
	history lin.History
	claims  Claims
	known   bool // the server's log is known
	looks   []sight
	paths   []string // all paths in the looks and the log, sorted
	states  map[string][]nodeState
	last    time.Duration // of the last change
}

// sight is a look that returned.
type sight struct {
	op lin.Op
	Look
}

// nodeState is the state of a znode from a step on.
type nodeState struct {
	from   int64
	exists bool
	data   string
	zxid   int64
}

func newTable(h lin.History, claims Claims) *table {
	t := &table{
		history: h, claims: claims, known: h.Server != nil, states: map[string][]nodeState{},
	}
	for _, op := range h.Ops {
		if op.OK() && (op.Kind == ops.Look || op.Kind == ops.Settle) {
			look := readLook(op)
			t.looks = append(t.looks, sight{op, look})
			for _, n := range look.Nodes {
				t.addAbsent(n.Path)
			}
		}
	}
	for _, e := range h.Server {
		if t.inScope(e) {
			t.addAbsent(e.Path)
			t.last = max(t.last, e.Time)
			state := nodeState{e.Step, e.Kind != lin.NodeDeleted, e.Data, e.Zxid}
			t.states[e.Path] = append(t.states[e.Path], state)
		}
	}
	slices.Sort(t.paths)
	return t
}

// addAbsent begins the list of states of a znode with the state that it does not exist.
func (t *table) addAbsent(path string) {
	if t.states[path] == nil {
		t.paths = append(t.paths, path)
		t.states[path] = []nodeState{{}}
	}
}

// inScope reports whether an event is about a znode that the cache shows.
func (t *table) inScope(e lin.ServerEvent) bool {
	switch {
	case judging.IsSessionEvent(e):
		return false
	case e.Path == t.claims.Path:
		return !t.claims.Rootless
	case !judging.Below(t.claims.Path, e.Path):
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
