package member

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// groupSimulator makes valid histories of a registry with three clients. They join, leave, expire,
// are evicted, change their data and look, each with a view that lags behind. As a group it shows
// names only.
type groupSimulator struct {
	fixture
	t        *rapid.T
	services bool
	members  []*simulatedMember
}

type simulatedMember struct {
	name, instance string
	data           string // the wanted data; "" if it has not joined
	changes        int
	session        int64
	there          bool
	goneAt         int64          // step
	seen           map[string]int // by instance: the period of its timeline that was shown last
}

// viewLag is how far, in steps, views and reappearances stay behind at most.
const viewLag = 200

func simulateGroup(t *rapid.T, services bool) lin.History {
	c := &groupSimulator{t: t, services: services}
	for _, name := range []string{"a", "b", "c"} {
		m := &simulatedMember{name: name, instance: name, session: memberSession(name),
			seen: map[string]int{}}
		if services {
			m.instance = []string{"web/", "mail/", "web/"}[len(c.members)] + name
		}
		c.members = append(c.members, m)
		c.Starts(name, m.session)
	}
	for range rapid.IntRange(5, 60).Draw(t, "steps") {
		c.Step += 20
		c.act(rapid.SampledFrom(c.members).Draw(t, "member"))
		c.comeBack(viewLag / 2)
	}
	if m := rapid.SampledFrom(c.members).Draw(t, "last"); m.data != "" {
		c.leave(m)
	}
	c.comeBack(0)
	c.Step += 2 * viewLag
	for _, m := range c.members {
		c.look(m)
	}
	return c.History()
}

func (c *groupSimulator) act(m *simulatedMember) {
	switch what := rapid.IntRange(0, 9).Draw(c.t, "what"); {
	case m.data == "" && what < 7:
		c.join(m)
	case what < 4:
		c.look(m)
	case what == 4:
		c.leave(m)
	case what == 5 && c.services:
		c.update(m)
	case what == 6 && m.there:
		c.Expires(m.session, c.path(m))
		m.there, m.goneAt, m.session = false, c.Step, m.session+1000
	case what == 7:
		c.evict(m, rapid.SampledFrom(c.members).Draw(c.t, "other"))
	case what == 8 && c.services:
		c.pick(m, rapid.SampledFrom(c.members).Draw(c.t, "other"))
	default:
		c.look(m)
	}
}

func (c *groupSimulator) path(m *simulatedMember) string { return "/m/" + m.instance }

func (c *groupSimulator) appear(m *simulatedMember) {
	c.Creates(m.name, m.session, c.path(m), m.data, m.session)
	m.there = true
}

// comeBack creates the instances again that have been missing for more than the given steps.
func (c *groupSimulator) comeBack(after int64) {
	for _, m := range c.members {
		if m.data != "" && !m.there && c.Step-m.goneAt >= after {
			c.appear(m)
		}
	}
}

func (c *groupSimulator) join(m *simulatedMember) {
	m.changes++
	m.data = fmt.Sprintf("%s%d", m.name, m.changes)
	op := c.Call(m.name, ops.Join, m.instance+"="+m.data)
	c.appear(m)
	if rapid.IntRange(0, 4).Draw(c.t, "reply") == 0 {
		c.Ret(op, lin.OpUnknown, lin.Result{Session: m.session})
		op = c.Call(m.name, ops.Join, m.instance+"="+m.data)
	}
	c.Ret(op, lin.OpOK, lin.Result{Session: m.session})
}

func (c *groupSimulator) leave(m *simulatedMember) {
	op := c.Call(m.name, ops.Leave, m.instance)
	if m.there {
		c.Deletes(m.name, m.session, c.path(m), 1)
	}
	m.data, m.there = "", false
	c.Ret(op, lin.OpOK, lin.Result{Session: m.session})
}

func (c *groupSimulator) update(m *simulatedMember) {
	m.changes++
	m.data = fmt.Sprintf("%s%d", m.name, m.changes)
	op := c.Call(m.name, ops.Update, m.instance+"="+m.data)
	if m.there {
		c.Stores(m.name, c.path(m), m.data)
	} else {
		c.appear(m)
	}
	c.Ret(op, lin.OpOK, lin.Result{Session: m.session})
}

func (c *groupSimulator) evict(m, other *simulatedMember) {
	op := c.Call(m.name, ops.Evict, other.instance)
	if other.there {
		c.Deletes(m.name, m.session, c.path(other), 1)
		other.there, other.goneAt = false, c.Step
	}
	c.Ret(op, lin.OpOK, lin.Result{Session: m.session})
}

// look records a view of a random moment for each instance, or one moment for all: not before the
// last one shown, and not too long ago.
func (c *groupSimulator) look(m *simulatedMember) {
	op := c.Call(m.name, ops.View, "")
	truth := newTable(c.History().Sorted(),
		Claims{Path: "/m", Services: c.services}).truth
	shown := ""
	if c.services {
		var entries []string
		for _, other := range c.members {
			if value := c.glimpse(m, other.instance, truth.of(other.instance)); value != "" {
				entries = append(entries, other.instance+value)
			}
		}
		slices.Sort(entries)
		shown = strings.Join(entries, ",")
	} else {
		shown = c.glimpse(m, allNames, truth.names)
	}
	c.Ret(op, lin.OpOK, lin.Result{Output: shown, Empty: shown == ""})
}

func (c *groupSimulator) glimpse(m *simulatedMember, key string, line timeline) string {
	first := m.seen[key]
	for line[first].to < c.Step-viewLag {
		first++
	}
	m.seen[key] = rapid.IntRange(first, len(line)-1).Draw(c.t, "period")
	return line[m.seen[key]].value
}

func (c *groupSimulator) pick(m, other *simulatedMember) {
	service, _, _ := strings.Cut(other.instance, "/")
	op := c.Call(m.name, ops.Pick, service)
	truth := newTable(c.History().Sorted(), Claims{Path: "/m", Services: true}).truth
	chosen := c.glimpse(m, other.instance, truth.of(other.instance))
	if chosen == "" {
		c.Ret(op, lin.OpUnknown, lin.Result{}) // others may be there
		return
	}
	c.Ret(op, lin.OpOK, lin.Result{Output: other.instance + chosen})
}

func randomGroup(t *rapid.T) lin.History    { return simulateGroup(t, false) }
func randomRegistry(t *rapid.T) lin.History { return simulateGroup(t, true) }

func judgeGroup(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, Claims{Path: "/m", Within: 300 * time.Millisecond})
}

func judgeRegistry(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, Claims{Path: "/m", Services: true,
		Within: 300 * time.Millisecond})
}

func TestCorrectGroupsAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomGroup, judgeGroup)
}
func TestCorrectRegistriesAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomRegistry, judgeRegistry)
}

func TestBrokenGroupsAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomGroup, judgeGroup, groupMutations(60))
}

func TestBrokenRegistriesAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomRegistry, judgeRegistry, groupMutations(70))
}

// groupMutations returns the mutations. A swapped view may be a valid lagging one, so only the
// given share is found.
func groupMutations(swapped int) []mutation {
	return []mutation{
		{"two views are exchanged", judgingtest.SwapOutputs(ops.View), []string{lin.Answers}, swapped},
		{"a view shows a ghost", showGhost, []string{lin.Answers}, 0},
		{"a last view misses a member", missMember, []string{lin.Answers}, 0},
		{"a creation is missing", dropCreation, []string{lin.Presence, lin.Answers}, 80},
		{"a leave has no effect", judgingtest.DropChange(ops.Leave), []string{lin.Presence}, 0},
		{"an instance is deleted by another", deleteOthers, []string{lin.Safety}, 0},
		{"an instance comes back after it has left", returnGhost, []string{lin.Presence}, 0},
		{
			"a call never returns", judgingtest.NeverReturns(ops.Join, ops.Leave, ops.View),
			[]string{lin.Liveness}, 0,
		},
	}
}

// showGhost adds an instance to a view that never existed.
var showGhost = judgingtest.OnCall(judgingtest.Returned(ops.View),
	func(_ *lin.History, op *lin.Op) {
		op.Output, op.Empty = strings.TrimPrefix(op.Output+",web/ghost=1", ","), false
	})

// missMember removes the first instance from a view that was made a long time after the last
// change.
func missMember(_ *rapid.T, h *lin.History) bool {
	op := &h.Ops[len(h.Ops)-1]
	if op.Output == "" {
		return false
	}
	_, op.Output, _ = strings.Cut(op.Output, ",")
	op.Empty = op.Output == ""
	return true
}

// dropCreation takes a creation out of the log.
var dropCreation = judgingtest.OnEvent(judgingtest.OfKind(lin.NodeCreated), judgingtest.Drop)

// deleteOthers adds a delete of an instance by a client without a call.
var deleteOthers = judgingtest.OnEvent(func(_ *lin.History, e *lin.ServerEvent) bool {
	return e.Kind == lin.NodeDeleted && e.Session != 0
}, func(_ *lin.History, e *lin.ServerEvent) { e.Client, e.Session = "x", 77 })

// returnGhost creates an instance again after its client has left for good.
var returnGhost = judgingtest.OnEvent(func(h *lin.History, e *lin.ServerEvent) bool {
	last := ""
	for _, op := range h.Ops {
		if op.Client == e.Client && (op.Kind == ops.Join || op.Kind == ops.Leave) {
			last = op.Kind
		}
	}
	return e.Kind == lin.NodeCreated && last == ops.Leave
}, func(h *lin.History, e *lin.ServerEvent) {
	again := *e
	again.Step, again.Time = h.End+10, h.EndTime+10*time.Millisecond
	again.Czxid = again.Step
	h.Server = append(h.Server, again)
})
