package linearizability

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

var cacheAtC = Cache{Path: "/c", Levels: -1, Events: true, Patience: 50 * time.Millisecond}

// looks records a complete look.
func (f *fixture) looks(client string, look CacheLook) {
	f.ret(f.call(client, ops.Look, ""), OpOK, Result{Output: look.String()})
}

// settles is a look long after all changes.
func (f *fixture) settles(client string, look CacheLook) {
	op := f.call(client, ops.Settle, "")
	f.step += 100
	f.ret(op, OpOK, Result{Output: look.String()})
}

// makes creates a znode and returns it.
func (f *fixture) makes(path, data string) CacheNode {
	return CacheNode{path, data,
		f.server(ServerEvent{Kind: NodeCreated, Client: "w", Path: path, Data: data})}
}

func (f *fixture) changes(path, data string) CacheNode {
	return CacheNode{path, data,
		f.server(ServerEvent{Kind: DataChanged, Client: "w", Path: path, Data: data})}
}

func added(n CacheNode) CacheChange   { return CacheChange{"added", n} }
func updated(n CacheNode) CacheChange { return CacheChange{"updated", n} }
func removed(n CacheNode) CacheChange { return CacheChange{"removed", n} }

func sees(n ...CacheNode) CacheLook { return CacheLook{Nodes: n} }

func (l CacheLook) told(e ...CacheChange) CacheLook {
	l.Events = e
	return l
}

func TestCaches(t *testing.T) {
	checkHistories(t, func(opts Cache) Claims {
		opts.Path, opts.Levels = "/c", cmp.Or(opts.Levels, -1)
		return opts
	}, []historyTest[Cache]{
		{name: "follows, now and then", opts: cacheAtC, build: func(f *fixture) {
			f.looks("a", CacheLook{Stale: true, Down: true})
			one := f.makes("/c", "1")
			f.looks("a", sees())
			f.looks("a", sees(one).told(added(one)))
			f.changes("/c", "2")
			three := f.changes("/c", "3")
			f.looks("a", sees(one))
			f.looks("a", sees(three).told(updated(three)))
			f.deletes("w", 0, "/c", 0)
			again := f.makes("/c", "3")
			f.looks("a", sees(again).told(updated(again)))
			f.deletes("w", 0, "/c", 0)
			f.settles("a", sees().told(removed(again)))
		}},
		{name: "goes back", bad: View,
			says: `goes back: of /c it shows "1" of zxid 1, after it had shown "2" of zxid 2, ` +
				`as it was from step 2 on`, build: func(f *fixture) {
				one := f.makes("/c", "1")
				two := f.changes("/c", "2")
				f.looks("a", sees(two))
				f.looks("a", sees(one))
			}},
		{name: "goes back to nothing", bad: View, says: "it shows nothing, after",
			build: func(f *fixture) {
				f.looks("a", sees(f.makes("/c", "1")))
				f.looks("a", sees())
			}},
		{name: "two clients, two moments", build: func(f *fixture) {
			one := f.makes("/c", "1")
			f.looks("a", sees(f.changes("/c", "2")))
			f.looks("b", sees(one))
		}},
		{name: "from the future", bad: View, says: "is so only from step 3 on",
			build: func(f *fixture) {
				f.looks("a", sees(CacheNode{"/c", "1", 3}))
				f.makes("/c", "1")
			}},
		{name: "never was", bad: View, says: "which the server never had", build: func(f *fixture) {
			one := f.makes("/c", "1")
			f.looks("a", sees(CacheNode{"/c", "2", one.Zxid}))
		}},
		{name: "same data, other node", bad: View, says: `shows "1" of zxid 1`,
			build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.deletes("w", 0, "/c", 0)
				f.looks("a", sees(f.makes("/c", "1")))
				f.looks("a", sees(one))
			}},
		{name: "believes while it is down", bad: Belief, says: "says that it is up to date",
			build: func(f *fixture) {
				f.looks("a", CacheLook{Down: true})
			}},
		{name: "an event too few", bad: Delivery, says: "it shows /c, and no event told of that",
			opts: cacheAtC, build: func(f *fixture) {
				f.looks("a", sees(f.makes("/c", "1")))
			}},
		{name: "an update untold", bad: Delivery, says: `events told of "1" of zxid 1`,
			opts: cacheAtC, build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.looks("a", sees(one).told(added(one)))
				f.looks("a", sees(f.changes("/c", "2")))
			}},
		{name: "a removal untold", bad: Delivery, says: "no event told that this was removed",
			opts: cacheAtC, build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.looks("a", sees(one).told(added(one)))
				f.deletes("w", 0, "/c", 0)
				f.looks("a", sees())
			}},
		{name: "of the wrong kind", bad: Delivery,
			says: "it was told that /c was updated, but it had not been there",
			opts: cacheAtC, build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.looks("a", sees(one).told(updated(one)))
			}},
		{name: "told twice", bad: Delivery, says: "its zxid stays 1", opts: cacheAtC,
			build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.looks("a", sees(one).told(added(one), updated(one)))
			}},
		{name: "added twice", bad: Delivery, says: "added, but it had been there", opts: cacheAtC,
			build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.looks("a", sees(one).told(added(one), added(one)))
			}},
		{name: "settles beside the tree", bad: Liveness,
			says: `shows "1" of zxid 1 of /c, which is "2" of zxid 2 since step 2`,
			opts: Cache{Patience: 50 * time.Millisecond}, build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.changes("/c", "2")
				f.settles("a", sees(one))
			}},
		{name: "settles too early to be judged", opts: Cache{Patience: time.Second},
			build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.changes("/c", "2")
				f.settles("a", sees(one))
			}},
		{name: "never ready", bad: Liveness, says: "a's ready (step 1, pending) never returned",
			build: func(f *fixture) { f.call("a", ops.Ready, "") }},
		{name: "what is not in scope", opts: Cache{Levels: 1, Rootless: true,
			Patience: 50 * time.Millisecond}, build: func(f *fixture) {
			f.makes("/c", "1")
			one := f.makes("/c/1", "2")
			f.makes("/c/1/2", "3")
			f.makes("/d", "4")
			f.settles("a", sees(one))
		}},
	}, atRest)
}

func TestCachesWithoutLog(t *testing.T) {
	one, two := CacheNode{"/c", "1", 1}, CacheNode{"/c", "2", 2}
	for name, tc := range map[string]struct {
		looks     []CacheLook
		bad, says string
	}{
		"follows":   {[]CacheLook{sees(one), sees(two), sees(), sees(two)}, "", ""},
		"goes back": {[]CacheLook{sees(two), sees(), sees(one)}, View, "goes back"},
		"two of one moment": {
			[]CacheLook{sees(one), sees(CacheNode{"/c", "2", 1})}, View, "goes back",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{}
			for _, l := range tc.looks {
				f.looks("a", l)
			}
			h := f.history()
			h.Server = nil
			checkReport(t, Judge(h, &Leftovers{}, Cache{Path: "/c"}), tc.bad, tc.says)
		})
	}
}

// cacheScene makes valid histories of caches: each client follows each znode at its own pace.
type cacheScene struct {
	fixture
	t      *rapid.T
	states map[string][]CacheNode // zxid 0: it does not exist
	at     map[string]int         // of client and path
	last   map[string]CacheLook   // of each client
}

var cachePaths = []string{"/c", "/c/a", "/c/b"}

func randomCache(t *rapid.T) History {
	s := &cacheScene{t: t, states: map[string][]CacheNode{}, at: map[string]int{},
		last: map[string]CacheLook{}}
	for _, path := range cachePaths {
		s.states[path] = []CacheNode{{}}
	}
	for range rapid.IntRange(10, 80).Draw(t, "steps") {
		s.step += 9
		client := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "client")
		path := rapid.SampledFrom(cachePaths).Draw(t, "path")
		switch rapid.SampledFrom([]string{"change", "change", "follow", "follow", "look",
			"look"}).Draw(t, "what") {
		case "change":
			s.change(path)
		case "follow":
			s.at[client+path] = rapid.IntRange(s.at[client+path],
				len(s.states[path])-1).Draw(t, "state")
		default:
			op := s.call(client, ops.Look, "")
			s.ret(op, OpOK, Result{Output: s.look(client).String()})
		}
	}
	s.step += 100
	for _, client := range []string{"a", "b"} {
		for _, path := range cachePaths {
			s.at[client+path] = len(s.states[path]) - 1
		}
		op := s.call(client, ops.Settle, "")
		s.ret(op, OpOK, Result{Output: s.look(client).String()})
	}
	return s.history()
}

func (s *cacheScene) change(path string) {
	states := s.states[path]
	data := fmt.Sprint(rapid.IntRange(1, 2).Draw(s.t, "data"))
	var next CacheNode
	switch {
	case states[len(states)-1].Zxid == 0:
		next = s.makes(path, data)
	case rapid.Bool().Draw(s.t, "delete"):
		s.deletes("w", 0, path, 0)
	default:
		next = s.changes(path, data)
	}
	s.states[path] = append(states, next)
}

// look records a look with the events since the last one.
func (s *cacheScene) look(client string) CacheLook {
	look := CacheLook{Stale: rapid.Bool().Draw(s.t, "stale")}
	look.Down = look.Stale && rapid.Bool().Draw(s.t, "down")
	before := s.last[client]
	for _, path := range cachePaths {
		n, old := s.states[path][s.at[client+path]], before.find(path)
		if n.Zxid != 0 {
			look.Nodes = append(look.Nodes, n)
		}
		switch {
		case n.Zxid == old.zxid:
		case n.Zxid == 0:
			look.Events = append(look.Events, removed(CacheNode{path, old.data, old.zxid}))
		case old.zxid == 0:
			look.Events = append(look.Events, added(n))
		default:
			look.Events = append(look.Events, updated(n))
		}
	}
	s.last[client] = look
	return look
}

func judgeCacheAtC(h History) Report { return Judge(h, &Leftovers{}, cacheAtC) }

func TestCorrectCachesAreFoundCorrect(t *testing.T) { checkValid(t, randomCache, judgeCacheAtC) }

func TestCorrectCachesWithoutLog(t *testing.T) {
	checkValid(t, func(t *rapid.T) History {
		h := randomCache(t)
		h.Server = nil
		return h
	}, judgeCacheAtC)
}

// inLook applies change to one look in which it can change something.
func inLook(
	kind string, fits func(CacheLook) bool, change func(t *rapid.T, l *CacheLook),
) func(*rapid.T, *History) bool {
	return func(t *rapid.T, h *History) bool {
		op := one(t, h.Ops, func(op *Op) bool { return returned(kind)(op) && fits(readLook(*op)) })
		if op == nil {
			return false
		}
		l := readLook(*op)
		change(t, &l)
		op.Output = l.String()
		return true
	}
}

func anyLook(CacheLook) bool     { return true }
func hasEvents(l CacheLook) bool { return len(l.Events) > 0 }
func hasNodes(l CacheLook) bool  { return len(l.Nodes) > 0 }

func anEvent(change func(l *CacheLook, i int)) func(*rapid.T, *History) bool {
	return inLook(ops.Look, hasEvents, func(t *rapid.T, l *CacheLook) {
		change(l, rapid.IntRange(0, len(l.Events)-1).Draw(t, "event"))
	})
}

// exchangeLooks swaps the results of two looks of a client.
func exchangeLooks(t *rapid.T, h *History) bool {
	a := one(t, h.Ops, func(op *Op) bool {
		return returned(ops.Look)(op) && hasNodes(readLook(*op))
	})
	if a == nil {
		return false
	}
	b := one(t, h.Ops, func(op *Op) bool {
		return returned(ops.Look)(op) && op.Client == a.Client && !slices.Equal(readLook(*op).Nodes,
			readLook(*a).Nodes)
	})
	if b != nil {
		a.Output, b.Output = b.Output, a.Output
	}
	return b != nil
}

func TestBrokenCachesAreFoundBroken(t *testing.T) {
	checkMutations(t, randomCache, judgeCacheAtC, []mutation{
		{"looks exchanged", exchangeLooks, []string{View, Delivery}, 0},
		{"not stale, and down", inLook(ops.Look, anyLook,
			func(_ *rapid.T, l *CacheLook) { l.Stale, l.Down = false, true }), []string{Belief}, 0},
		{"an event is lost",
			anEvent(func(l *CacheLook, i int) {
				l.Events = slices.Delete(l.Events, i, i+1)
			}), []string{Delivery}, 0},
		{"an event comes twice",
			anEvent(func(l *CacheLook, i int) {
				l.Events = append(l.Events, l.Events[i])
			}), []string{Delivery}, 0},
		{"an event of another kind", anEvent(func(l *CacheLook, i int) {
			kinds := []string{"added", "updated", "removed"}
			l.Events[i].Kind = kinds[(slices.Index(kinds, l.Events[i].Kind)+1)%3]
		}), []string{Delivery}, 0},
		{"other data", inLook(ops.Look, hasNodes,
			func(_ *rapid.T, l *CacheLook) { l.Nodes[0].Data += "x" }), []string{View}, 0},
		{"a node is not shown", inLook(ops.Settle, hasNodes,
			func(_ *rapid.T, l *CacheLook) { l.Nodes = l.Nodes[1:] }), []string{Liveness}, 0},
		{"from the future", showsTheFuture, []string{View}, 0},
		{"a change that never happened", neverHappened, []string{View, Liveness}, 0},
		{"a hanging call", neverReturns(ops.Look, ops.Settle), []string{Liveness}, 0},
	})
}

// showsTheFuture moves a change that a look shows behind the end of the history.
func showsTheFuture(t *rapid.T, h *History) bool {
	e := shownChange(t, h)
	if e == nil {
		return false
	}
	h.End += 20
	e.Step = h.End
	return true
}

// neverHappened removes a change that a look shows from the log.
func neverHappened(t *rapid.T, h *History) bool {
	e := shownChange(t, h)
	if e == nil {
		return false
	}
	i := slices.Index(h.Server, *e)
	h.Server = slices.Delete(h.Server, i, i+1)
	return true
}

// shownChange draws a change that some look shows.
func shownChange(t *rapid.T, h *History) *ServerEvent {
	return one(t, h.Server, func(e *ServerEvent) bool {
		return e.Kind != NodeDeleted && slices.ContainsFunc(h.Ops, func(op Op) bool {
			return op.Kind == ops.Look && readLook(op).find(e.Path).zxid == e.Zxid
		})
	})
}
