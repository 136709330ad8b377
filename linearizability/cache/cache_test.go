package cache

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

var cacheAtC = Claims{Path: "/c", Levels: -1, Events: true, Patience: 50 * time.Millisecond}

// looks records a complete look.
func (f *fixture) looks(client string, look Look) {
	f.Ret(f.Call(client, ops.Look, ""), lin.OpOK, lin.Result{Output: look.String()})
}

// settles is a look long after all changes.
func (f *fixture) settles(client string, look Look) {
	op := f.Call(client, ops.Settle, "")
	f.Step += 100
	f.Ret(op, lin.OpOK, lin.Result{Output: look.String()})
}

// makes creates a znode and returns it.
func (f *fixture) makes(path, data string) Node {
	return Node{path, data,
		f.Server(lin.ServerEvent{Kind: lin.NodeCreated, Client: "w", Path: path, Data: data})}
}

func (f *fixture) changes(path, data string) Node {
	return Node{path, data,
		f.Server(lin.ServerEvent{Kind: lin.DataChanged, Client: "w", Path: path, Data: data})}
}

func added(n Node) Change   { return Change{"added", n} }
func updated(n Node) Change { return Change{"updated", n} }
func removed(n Node) Change { return Change{"removed", n} }

func sees(n ...Node) Look { return Look{Nodes: n} }

func (l Look) told(e ...Change) Look {
	l.Events = e
	return l
}

func TestCaches(t *testing.T) {
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path, opts.Levels = "/c", cmp.Or(opts.Levels, -1)
		return opts
	}, []historyTest[Claims]{
		{Name: "follows, now and then", Opts: cacheAtC, Build: func(f *fixture) {
			f.looks("a", Look{Stale: true, Down: true})
			one := f.makes("/c", "1")
			f.looks("a", sees())
			f.looks("a", sees(one).told(added(one)))
			f.changes("/c", "2")
			three := f.changes("/c", "3")
			f.looks("a", sees(one))
			f.looks("a", sees(three).told(updated(three)))
			f.Deletes("w", 0, "/c", 0)
			again := f.makes("/c", "3")
			f.looks("a", sees(again).told(updated(again)))
			f.Deletes("w", 0, "/c", 0)
			f.settles("a", sees().told(removed(again)))
		}},
		{Name: "goes back", Bad: lin.View,
			Says: `goes back: of /c it shows "1" of zxid 1, after it had shown "2" of zxid 2, ` +
				`as it was from step 2 on`, Build: func(f *fixture) {
				one := f.makes("/c", "1")
				two := f.changes("/c", "2")
				f.looks("a", sees(two))
				f.looks("a", sees(one))
			}},
		{Name: "goes back to nothing", Bad: lin.View, Says: "it shows nothing, after",
			Build: func(f *fixture) {
				f.looks("a", sees(f.makes("/c", "1")))
				f.looks("a", sees())
			}},
		{Name: "two clients, two moments", Build: func(f *fixture) {
			one := f.makes("/c", "1")
			f.looks("a", sees(f.changes("/c", "2")))
			f.looks("b", sees(one))
		}},
		{Name: "from the future", Bad: lin.View, Says: "is so only from step 3 on",
			Build: func(f *fixture) {
				f.looks("a", sees(Node{"/c", "1", 3}))
				f.makes("/c", "1")
			}},
		{Name: "never was", Bad: lin.View, Says: "which the server never had", Build: func(f *fixture) {
			one := f.makes("/c", "1")
			f.looks("a", sees(Node{"/c", "2", one.Zxid}))
		}},
		{Name: "same data, other node", Bad: lin.View, Says: `shows "1" of zxid 1`,
			Build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.Deletes("w", 0, "/c", 0)
				f.looks("a", sees(f.makes("/c", "1")))
				f.looks("a", sees(one))
			}},
		{Name: "believes while it is down", Bad: lin.Belief, Says: "says that it is up to date",
			Build: func(f *fixture) {
				f.looks("a", Look{Down: true})
			}},
		{Name: "an event too few", Bad: lin.Delivery, Says: "it shows /c, and no event told of that",
			Opts: cacheAtC, Build: func(f *fixture) {
				f.looks("a", sees(f.makes("/c", "1")))
			}},
		{Name: "an update untold", Bad: lin.Delivery, Says: `events told of "1" of zxid 1`,
			Opts: cacheAtC, Build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.looks("a", sees(one).told(added(one)))
				f.looks("a", sees(f.changes("/c", "2")))
			}},
		{Name: "a removal untold", Bad: lin.Delivery, Says: "no event told that this was removed",
			Opts: cacheAtC, Build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.looks("a", sees(one).told(added(one)))
				f.Deletes("w", 0, "/c", 0)
				f.looks("a", sees())
			}},
		{Name: "of the wrong kind", Bad: lin.Delivery,
			Says: "it was told that /c was updated, but it had not been there",
			Opts: cacheAtC, Build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.looks("a", sees(one).told(updated(one)))
			}},
		{Name: "told twice", Bad: lin.Delivery, Says: "its zxid stays 1", Opts: cacheAtC,
			Build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.looks("a", sees(one).told(added(one), updated(one)))
			}},
		{Name: "added twice", Bad: lin.Delivery, Says: "added, but it had been there", Opts: cacheAtC,
			Build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.looks("a", sees(one).told(added(one), added(one)))
			}},
		{Name: "settles beside the tree", Bad: lin.Liveness,
			Says: `shows "1" of zxid 1 of /c, where the server has had "2" of zxid 2 since step 2`,
			Opts: Claims{Patience: 50 * time.Millisecond}, Build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.changes("/c", "2")
				f.settles("a", sees(one))
			}},
		{Name: "settles too early to be judged", Opts: Claims{Patience: time.Second},
			Build: func(f *fixture) {
				one := f.makes("/c", "1")
				f.changes("/c", "2")
				f.settles("a", sees(one))
			}},
		{Name: "never ready", Bad: lin.Liveness, Says: "a's ready (step 1, pending) never returned",
			Build: func(f *fixture) { f.Call("a", ops.Ready, "") }},
		{Name: "what is not in scope", Opts: Claims{Levels: 1, Rootless: true,
			Patience: 50 * time.Millisecond}, Build: func(f *fixture) {
			f.makes("/c", "1")
			one := f.makes("/c/1", "2")
			f.makes("/c/1/2", "3")
			f.makes("/d", "4")
			f.settles("a", sees(one))
		}},
		{Name: "a goroutine is left", Bad: lin.Orphans, Says: "left at rest: a goroutine: loop",
			Build: func(f *fixture) { f.Left = &lin.Leftovers{Leaked: []string{"loop"}} }},
	}, judgingtest.AtRest[fixture])
}

func TestCachesWithoutLog(t *testing.T) {
	one, two := Node{"/c", "1", 1}, Node{"/c", "2", 2}
	for name, tc := range map[string]struct {
		looks     []Look
		bad, says string
	}{
		"follows":   {[]Look{sees(one), sees(two), sees(), sees(two)}, "", ""},
		"goes back": {[]Look{sees(two), sees(), sees(one)}, lin.View, "goes back"},
		"two of one moment": {
			[]Look{sees(one), sees(Node{"/c", "2", 1})}, lin.View, "goes back",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{}
			for _, l := range tc.looks {
				f.looks("a", l)
			}
			h := f.History()
			h.Server = nil
			judgingtest.CheckReport(t, judgingtest.Judge(h, &lin.Leftovers{}, Claims{Path: "/c"}), tc.bad, tc.says)
		})
	}
}

// cacheScene makes valid histories of caches: each client follows each znode at its own pace.
type cacheScene struct {
	fixture
	t      *rapid.T
	states map[string][]Node // zxid 0: it does not exist
	at     map[string]int    // of client and path
	last   map[string]Look   // of each client
}

var cachePaths = []string{"/c", "/c/a", "/c/b"}

func randomCache(t *rapid.T) lin.History {
	s := &cacheScene{t: t, states: map[string][]Node{}, at: map[string]int{},
		last: map[string]Look{}}
	for _, path := range cachePaths {
		s.states[path] = []Node{{}}
	}
	for range rapid.IntRange(10, 80).Draw(t, "steps") {
		s.Step += 9
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
			op := s.Call(client, ops.Look, "")
			s.Ret(op, lin.OpOK, lin.Result{Output: s.look(client).String()})
		}
	}
	s.Step += 100
	for _, client := range []string{"a", "b"} {
		for _, path := range cachePaths {
			s.at[client+path] = len(s.states[path]) - 1
		}
		op := s.Call(client, ops.Settle, "")
		s.Ret(op, lin.OpOK, lin.Result{Output: s.look(client).String()})
	}
	return s.History()
}

func (s *cacheScene) change(path string) {
	states := s.states[path]
	data := fmt.Sprint(rapid.IntRange(1, 2).Draw(s.t, "data"))
	var next Node
	switch {
	case states[len(states)-1].Zxid == 0:
		next = s.makes(path, data)
	case rapid.Bool().Draw(s.t, "delete"):
		s.Deletes("w", 0, path, 0)
	default:
		next = s.changes(path, data)
	}
	s.states[path] = append(states, next)
}

// look records a look with the events since the last one.
func (s *cacheScene) look(client string) Look {
	look := Look{Stale: rapid.Bool().Draw(s.t, "stale")}
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
			look.Events = append(look.Events, removed(Node{path, old.data, old.zxid}))
		case old.zxid == 0:
			look.Events = append(look.Events, added(n))
		default:
			look.Events = append(look.Events, updated(n))
		}
	}
	s.last[client] = look
	return look
}

func judgeCacheAtC(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{},
		cacheAtC)
}

func TestCorrectCachesAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomCache, judgeCacheAtC)
}

func TestCorrectCachesWithoutLog(t *testing.T) {
	judgingtest.CheckValid(t, func(t *rapid.T) lin.History {
		h := randomCache(t)
		h.Server = nil
		return h
	}, judgeCacheAtC)
}

// inLook applies change to one look in which it can change something.
func inLook(
	kind string, fits func(Look) bool, change func(t *rapid.T, l *Look),
) func(*rapid.T, *lin.History) bool {
	return func(t *rapid.T, h *lin.History) bool {
		op := judgingtest.One(t, h.Ops,
			func(op *lin.Op) bool { return judgingtest.Returned(kind)(op) && fits(readLook(*op)) })
		if op == nil {
			return false
		}
		l := readLook(*op)
		change(t, &l)
		op.Output = l.String()
		return true
	}
}

func anyLook(Look) bool     { return true }
func hasEvents(l Look) bool { return len(l.Events) > 0 }
func hasNodes(l Look) bool  { return len(l.Nodes) > 0 }

func anEvent(change func(l *Look, i int)) func(*rapid.T, *lin.History) bool {
	return inLook(ops.Look, hasEvents, func(t *rapid.T, l *Look) {
		change(l, rapid.IntRange(0, len(l.Events)-1).Draw(t, "event"))
	})
}

// exchangeLooks swaps the results of two looks of a client.
var exchangeLooks = judgingtest.OnTwoCalls(judgingtest.Returned(ops.Look),
	func(a, b *lin.Op) bool {
		return a.Client == b.Client && !slices.Equal(readLook(*a).Nodes, readLook(*b).Nodes)
	},
	func(a, b *lin.Op) { a.Output, b.Output = b.Output, a.Output })

func TestBrokenCachesAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomCache, judgeCacheAtC, []mutation{
		{"looks exchanged", exchangeLooks, []string{lin.View, lin.Delivery}, 0},
		{"not stale, and down", inLook(ops.Look, anyLook,
			func(_ *rapid.T, l *Look) { l.Stale, l.Down = false, true }), []string{lin.Belief}, 0},
		{"an event is lost",
			anEvent(func(l *Look, i int) {
				l.Events = slices.Delete(l.Events, i, i+1)
			}), []string{lin.Delivery}, 0},
		{"an event comes twice",
			anEvent(func(l *Look, i int) {
				l.Events = append(l.Events, l.Events[i])
			}), []string{lin.Delivery}, 0},
		{"an event of another kind", anEvent(func(l *Look, i int) {
			kinds := []string{"added", "updated", "removed"}
			l.Events[i].Kind = kinds[(slices.Index(kinds, l.Events[i].Kind)+1)%3]
		}), []string{lin.Delivery}, 0},
		{"other data", inLook(ops.Look, hasNodes,
			func(_ *rapid.T, l *Look) { l.Nodes[0].Data += "x" }), []string{lin.View}, 0},
		{"a node is not shown", inLook(ops.Settle, hasNodes,
			func(_ *rapid.T, l *Look) { l.Nodes = l.Nodes[1:] }), []string{lin.Liveness}, 0},
		{"from the future", showsTheFuture, []string{lin.View}, 0},
		{"a change that never happened", neverHappened, []string{lin.View, lin.Liveness}, 0},
		{"a hanging call", judgingtest.NeverReturns(ops.Look, ops.Settle), []string{lin.Liveness}, 0},
	})
}

// showsTheFuture moves a change that a look shows behind the end of the history.
var showsTheFuture = judgingtest.OnEvent(shownByALook, func(h *lin.History, e *lin.ServerEvent) {
	h.End += 20
	e.Step = h.End
})

// neverHappened removes a change that a look shows from the log.
var neverHappened = judgingtest.OnEvent(shownByALook, judgingtest.Drop)

func shownByALook(h *lin.History, e *lin.ServerEvent) bool {
	return e.Kind != lin.NodeDeleted && slices.ContainsFunc(h.Ops, func(op lin.Op) bool {
		return op.Kind == ops.Look && readLook(op).find(e.Path).zxid == e.Zxid
	})
}
