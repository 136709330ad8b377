package linearizability

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

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

func simulateGroup(t *rapid.T, services bool) History {
	c := &groupSimulator{t: t, services: services}
	for _, name := range []string{"a", "b", "c"} {
		m := &simulatedMember{name: name, instance: name, session: memberSession(name),
			seen: map[string]int{}}
		if services {
			m.instance = []string{"web/", "mail/", "web/"}[len(c.members)] + name
		}
		c.members = append(c.members, m)
		c.starts(name, m.session)
	}
	for range rapid.IntRange(5, 60).Draw(t, "steps") {
		c.step += 20
		c.act(rapid.SampledFrom(c.members).Draw(t, "member"))
		c.comeBack(viewLag / 2)
	}
	if m := rapid.SampledFrom(c.members).Draw(t, "last"); m.data != "" {
		c.leave(m)
	}
	c.comeBack(0)
	c.step += 2 * viewLag
	for _, m := range c.members {
		c.look(m)
	}
	return c.history()
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
		c.expires(m.session, c.path(m))
		m.there, m.goneAt, m.session = false, c.step, m.session+1000
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
	c.creates(m.name, m.session, c.path(m), m.data, m.session)
	m.there = true
}

// comeBack creates the instances again that have been missing for more than the given steps.
func (c *groupSimulator) comeBack(after int64) {
	for _, m := range c.members {
		if m.data != "" && !m.there && c.step-m.goneAt >= after {
			c.appear(m)
		}
	}
}

func (c *groupSimulator) join(m *simulatedMember) {
	m.changes++
	m.data = fmt.Sprintf("%s%d", m.name, m.changes)
	op := c.call(m.name, ops.Join, m.instance+"="+m.data)
	c.appear(m)
	if rapid.IntRange(0, 4).Draw(c.t, "reply") == 0 {
		c.ret(op, OpUnknown, Result{Session: m.session})
		op = c.call(m.name, ops.Join, m.instance+"="+m.data)
	}
	c.ret(op, OpOK, Result{Session: m.session})
}

func (c *groupSimulator) leave(m *simulatedMember) {
	op := c.call(m.name, ops.Leave, m.instance)
	if m.there {
		c.deletes(m.name, m.session, c.path(m), 1)
	}
	m.data, m.there = "", false
	c.ret(op, OpOK, Result{Session: m.session})
}

func (c *groupSimulator) update(m *simulatedMember) {
	m.changes++
	m.data = fmt.Sprintf("%s%d", m.name, m.changes)
	op := c.call(m.name, ops.Update, m.instance+"="+m.data)
	if m.there {
		c.stores(m.name, c.path(m), m.data)
	} else {
		c.appear(m)
	}
	c.ret(op, OpOK, Result{Session: m.session})
}

func (c *groupSimulator) evict(m, other *simulatedMember) {
	op := c.call(m.name, ops.Evict, other.instance)
	if other.there {
		c.deletes(m.name, m.session, c.path(other), 1)
		other.there, other.goneAt = false, c.step
	}
	c.ret(op, OpOK, Result{Session: m.session})
}

// look records a view of a random moment for each instance, or one moment for all: not before the
// last one shown, and not too long ago.
func (c *groupSimulator) look(m *simulatedMember) {
	op := c.call(m.name, ops.View, "")
	truth := newMemberTable(c.history().sorted(),
		Membership{Path: "/m", Services: c.services}).truth
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
	c.ret(op, OpOK, Result{Output: shown, Empty: shown == ""})
}

func (c *groupSimulator) glimpse(m *simulatedMember, key string, line timeline) string {
	first := m.seen[key]
	for line[first].to < c.step-viewLag {
		first++
	}
	m.seen[key] = rapid.IntRange(first, len(line)-1).Draw(c.t, "period")
	return line[m.seen[key]].value
}

func (c *groupSimulator) pick(m, other *simulatedMember) {
	service, _, _ := strings.Cut(other.instance, "/")
	op := c.call(m.name, ops.Pick, service)
	truth := newMemberTable(c.history().sorted(), Membership{Path: "/m", Services: true}).truth
	chosen := c.glimpse(m, other.instance, truth.of(other.instance))
	if chosen == "" {
		c.ret(op, OpUnknown, Result{}) // others may be there
		return
	}
	c.ret(op, OpOK, Result{Output: other.instance + chosen})
}

func randomGroup(t *rapid.T) History    { return simulateGroup(t, false) }
func randomRegistry(t *rapid.T) History { return simulateGroup(t, true) }

func judgeGroup(h History) Report {
	return Judge(h, &Leftovers{}, Membership{Path: "/m", Within: 300 * time.Millisecond})
}

func judgeRegistry(h History) Report {
	return Judge(h, &Leftovers{}, Membership{Path: "/m", Services: true,
		Within: 300 * time.Millisecond})
}

func TestCorrectGroupsAreFoundCorrect(t *testing.T) { checkValid(t, randomGroup, judgeGroup) }
func TestCorrectRegistriesAreFoundCorrect(t *testing.T) {
	checkValid(t, randomRegistry, judgeRegistry)
}

func TestBrokenGroupsAreFoundBroken(t *testing.T) {
	checkMutations(t, randomGroup, judgeGroup, groupMutations(60))
}

func TestBrokenRegistriesAreFoundBroken(t *testing.T) {
	checkMutations(t, randomRegistry, judgeRegistry, groupMutations(70))
}

// groupMutations returns the mutations. A swapped view may be a valid lagging one, so only the
// given share is found.
func groupMutations(swapped int) []mutation {
	return []mutation{
		{"two views are exchanged", swapOutputs(ops.View), []string{Answers}, swapped},
		{"a view shows a ghost", showGhost, []string{Answers}, 0},
		{"a last view misses a member", missMember, []string{Answers}, 0},
		{"a creation is missing", dropCreation, []string{Presence, Answers}, 80},
		{"a leave has no effect", dropChange(ops.Leave), []string{Presence}, 0},
		{"an instance is deleted by another", deleteOthers, []string{Safety}, 0},
		{"an instance comes back after it has left", returnGhost, []string{Presence}, 0},
		{
			"a call never returns", neverReturns(ops.Join, ops.Leave, ops.View),
			[]string{Liveness}, 0,
		},
	}
}

// showGhost adds an instance to a view that never existed.
func showGhost(t *rapid.T, h *History) bool {
	op := one(t, h.Ops, returned(ops.View))
	if op != nil {
		op.Output, op.Empty = strings.TrimPrefix(op.Output+",web/ghost=1", ","), false
	}
	return op != nil
}

// missMember removes the first instance from a view that was made a long time after the last
// change.
func missMember(_ *rapid.T, h *History) bool {
	op := &h.Ops[len(h.Ops)-1]
	if op.Output == "" {
		return false
	}
	_, op.Output, _ = strings.Cut(op.Output, ",")
	op.Empty = op.Output == ""
	return true
}

// dropCreation takes a creation out of the log.
func dropCreation(t *rapid.T, h *History) bool {
	e := one(t, h.Server, func(e *ServerEvent) bool { return e.Kind == NodeCreated })
	if e == nil {
		return false
	}
	i := slices.Index(h.Server, *e)
	h.Server = slices.Delete(h.Server, i, i+1)
	return true
}

// deleteOthers adds a delete of an instance by a client without a call.
func deleteOthers(t *rapid.T, h *History) bool {
	e := one(t, h.Server, func(e *ServerEvent) bool {
		return e.Kind == NodeDeleted && e.Session != 0
	})
	if e != nil {
		e.Client, e.Session = "x", 77
	}
	return e != nil
}

// returnGhost creates an instance again after its client has left for good.
func returnGhost(t *rapid.T, h *History) bool {
	last := map[string]string{}
	for _, op := range h.Ops {
		if op.Kind == ops.Join || op.Kind == ops.Leave {
			last[op.Client] = op.Kind
		}
	}
	e := one(t, h.Server,
		func(e *ServerEvent) bool { return e.Kind == NodeCreated && last[e.Client] == ops.Leave })
	if e == nil {
		return false
	}
	again := *e
	again.Step, again.Time = h.End+10, h.EndTime+10*time.Millisecond
	again.Czxid = again.Step
	h.Server = append(h.Server, again)
	return true
}
