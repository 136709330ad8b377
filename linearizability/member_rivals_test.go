package linearizability

import (
	"testing"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

// spoils records a write by a client into another's instance.
func (f *fixture) spoils(client, instance string, asked bool) {
	var op int
	if asked {
		op = f.call(client, ops.Spoil, instance)
	}
	f.server(ServerEvent{Kind: DataChanged, Client: client, Session: memberSession(client),
		Path: "/m/" + instance, Data: "graffiti"})
	if asked {
		f.ret(op, OpOK, Result{})
	}
}

// gaveUp records a join that failed while another client had the instance.
func (f *fixture) gaveUp(client, entry string) {
	f.ret(f.call(client, ops.Join, entry), OpUnknown, Result{Session: memberSession(client)})
}

// overtaken records a leave of b; its delete reaches the server while a has the instance.
func overtaken(f *fixture, session int64, after time.Duration) {
	f.joins("b", "x=b1")
	f.gaveUp("a", "x=a1")
	leave, evict := f.call("b", ops.Leave, "x"), f.call("c", ops.Evict, "x")
	f.gone("c", "x")
	f.ret(evict, OpOK, Result{})
	f.creates("a", 97, "/m/x", "a1", 97)
	f.passes(after)
	f.deletes("b", session, "/m/x", 1)
	f.creates("a", 97, "/m/x", "a1", 97)
	f.ret(leave, OpOK, Result{Session: session})
}

func TestRivals(t *testing.T) {
	checkHistories(t, always(Membership{
		Path: "/m", Data: true, Rivals: true, Late: 100 * time.Millisecond,
		Hidden: []string{"secret"}, Within: time.Second, AllowedAtRest: []string{"/m/secret"},
	}), []claimTest{
		{name: "one after the other", build: func(f *fixture) {
			f.joins("a", "x=a1")
			f.gaveUp("b", "x=b1")
			f.views("c", "x=a1")
			f.leaves("a", "x")
			f.passes(500 * time.Millisecond)
			f.creates("b", 98, "/m/x", "b1", 98)
			f.views("c", "x=b1")
			f.expires(98, "/m/x")
			f.passes(500 * time.Millisecond)
			f.creates("b", 99, "/m/x", "b1", 99)
			f.passes(5 * time.Second)
			f.views("c", "x=b1")
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}, {Path: "/m/x", Owner: 99},
				{Path: "/m/secret"}}}
		}},
		{name: "one loses it to the other", build: func(f *fixture) {
			f.joins("a", "x=a1")
			f.gaveUp("b", "x=b1")
			f.expires(97, "/m/x")
			f.creates("b", 98, "/m/x", "b1", 98)
			f.passes(5 * time.Second)
		}},
		{name: "nobody takes over", bad: Presence, says: "nobody has had x, with his data, for 5.",
			build: func(f *fixture) {
				f.joins("a", "x=a1")
				f.gaveUp("b", "x=b1")
				f.leaves("a", "x")
				f.passes(5 * time.Second)
				f.views("c", "")
			}},
		{name: "has it, as he says, and another does", bad: Presence,
			says: `b's join (steps 4 to 5) was acknowledged, but x was not there with "b1"`,
			build: func(f *fixture) {
				f.joins("a", "x=a1")
				f.ret(f.call("b", ops.Join, "x=b1"), OpOK, Result{Session: 98})
			}},
		{name: "deletes the rival's", bad: Safety, says: "b deleted /m/x at step 5, which was a's",
			build: func(f *fixture) {
				f.joins("a", "x=a1")
				op := f.call("b", ops.Leave, "x")
				f.gone("b", "x")
				f.ret(op, OpOK, Result{Session: 98})
			}},
		{name: "has sent it when the instance was his own", build: func(f *fixture) {
			overtaken(f, 98, 10*time.Millisecond)
		}},
		{name: "has sent it long ago", bad: Safety, says: "b deleted /m/x",
			build: func(f *fixture) {
				overtaken(f, 98, time.Second)
			}},
		{name: "has sent it in another session", bad: Safety, says: "b deleted /m/x",
			build: func(f *fixture) {
				overtaken(f, 198, 10*time.Millisecond)
			}},
		{name: "writes into the rival's", bad: Safety,
			says: `b wrote "graffiti" into /m/x at step 4, which was a's`,
			build: func(f *fixture) {
				f.joins("a", "x=a1")
				f.spoils("b", "x", false)
			}},
		{name: "was asked to, and it is repaired", build: func(f *fixture) {
			f.joins("a", "x=a1")
			f.spoils("b", "x", true)
			f.stores("a", "/m/x", "a1")
			f.passes(5 * time.Second)
			f.views("c", "x=a1")
		}},
		{name: "is not repaired", bad: Presence, says: "nobody has had x, with his data",
			build: func(f *fixture) {
				f.joins("a", "x=a1")
				f.spoils("b", "x", true)
				f.passes(5 * time.Second)
				f.views("c", "x=graffiti")
			}},
		{name: "shows old data", bad: Answers, says: "shows x=a1, as it was until step",
			build: func(f *fixture) {
				f.joins("a", "x=a1")
				f.spoils("b", "x", true)
				f.stores("a", "/m/x", "a2")
				f.passes(5 * time.Second)
				f.views("c", "x=a1")
			}},
		{name: "hides more than what may not be read", bad: Answers, says: "does not show x",
			build: func(f *fixture) {
				f.creates("c", 99, "/m/secret", "s", 0)
				f.joins("a", "x=a1")
				f.passes(5 * time.Second)
				f.views("c", "")
			}},
		{name: "is left behind", bad: Orphans, says: "/m/x", build: func(f *fixture) {
			f.joins("a", "x=a1")
			f.gaveUp("b", "x=b1")
			f.leaves("a", "x")
			f.ret(f.call("b", ops.Leave, "x"), OpOK, Result{Session: 98})
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}, {Path: "/m/x", Owner: 98}}}
		}},
	})
}
