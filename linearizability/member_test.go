package linearizability

import (
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

// joins records a complete join of "instance=data" below /m.
func (f *fixture) joins(client, entry string) int64 {
	instance, data := cutData(entry)
	op := f.call(client, ops.Join, entry)
	step := f.creates(client, memberSession(client), "/m/"+instance, data, memberSession(client))
	f.ret(op, OpOK, Result{Session: memberSession(client)})
	return step
}

func memberSession(client string) int64 { return int64(client[0]) }

// leaves records a complete leave.
func (f *fixture) leaves(client, instance string) {
	op := f.call(client, ops.Leave, instance)
	f.gone(client, instance)
	f.ret(op, OpOK, Result{Session: memberSession(client)})
}

// gone records a delete by a client.
func (f *fixture) gone(client, instance string) {
	f.deletes(client, memberSession(client), "/m/"+instance, 1)
}

// views records a view.
func (f *fixture) views(client, shown string) {
	f.ret(f.call(client, ops.View, ""), OpOK, Result{Output: shown, Empty: shown == ""})
}

// picks records a pick.
func (f *fixture) picks(client, service, chosen string) {
	f.ret(f.call(client, ops.Pick, service), OpOK, Result{Output: chosen, Empty: chosen == ""})
}

// passes lets time pass, a millisecond each step.
func (f *fixture) passes(d time.Duration) { f.step += int64(d / time.Millisecond) }

func TestGroups(t *testing.T) {
	checkHistories(t, always(Membership{Path: "/m", Within: time.Second}), []claimTest{
		{name: "come and go", build: func(f *fixture) {
			f.views("c", "")
			f.joins("a", "a=1")
			f.views("c", "a")
			f.joins("b", "b=1")
			f.views("c", "a") // a little late
			f.views("c", "a,b")
			f.leaves("a", "a")
			f.leaves("b", "b")
			f.views("c", "b")
			f.passes(time.Second)
			f.views("c", "")
			f.left = &Leftovers{
				Nodes: []NodeAtRest{{Path: "/m"}}, Watches: []WatchAtRest{{"c", "/m"}},
			}
		}},
		{name: "shows a member who never was", bad: Answers,
			says: "c's view (steps 4 to 5) shows a,x, which was never so",
			build: func(f *fixture) {
				f.joins("a", "a=1")
				f.views("c", "a,x")
			}},
		{name: "shows what never was at one moment", bad: Answers,
			says: "shows b, which was never so", build: func(f *fixture) {
				f.joins("a", "a=1")
				f.joins("b", "b=1")
				f.views("c", "b")
			}},
		{name: "shows what is to come", bad: Answers, says: "never so", build: func(f *fixture) {
			f.views("c", "a")
			f.joins("a", "a=1")
		}},
		{name: "goes back", bad: Answers,
			says: "shows nobody, as it was until step 2, after something newer was shown",
			build: func(f *fixture) {
				f.joins("a", "a=1")
				f.views("c", "a")
				f.views("c", "")
			}},
		{name: "others may lag behind", build: func(f *fixture) {
			f.joins("a", "a=1")
			f.views("c", "a")
			f.views("b", "")
		}},
		{name: "does not converge", bad: Answers,
			says: "shows nobody, as it was until step 2, 2.002s before the call, and views may " +
				"lag by 1s", build: func(f *fixture) {
				f.joins("a", "a=1")
				f.passes(2 * time.Second)
				f.views("c", "")
			}},
		{name: "keeps the dead", bad: Answers, says: "shows a, as it was until step 4",
			build: func(f *fixture) {
				op := f.call("a", ops.Join, "a=1")
				f.creates("a", 97, "/m/a", "1", 97)
				f.ret(op, OpUnknown, Result{})
				f.expires(97, "/m/a")
				f.passes(2 * time.Second)
				f.views("c", "a")
			}},
		{name: "comes back after an expiry", build: func(f *fixture) {
			f.joins("a", "a=1")
			f.expires(97, "/m/a")
			f.passes(900 * time.Millisecond)
			f.creates("a", 98, "/m/a", "1", 98)
			f.passes(9 * time.Second)
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}, {Path: "/m/a", Owner: 98}}}
		}},
		{name: "comes back too late", bad: Presence,
			says: `a has not been there with "1" for 1.101s since step 4, though it had joined ` +
				`(a's join (steps 1 to 3))`, build: func(f *fixture) {
				f.joins("a", "a=1")
				f.expires(97, "/m/a")
				f.passes(1100 * time.Millisecond)
				f.creates("a", 98, "/m/a", "1", 98)
			}},
		{name: "never comes back", bad: Presence, says: "has not been there",
			build: func(f *fixture) {
				f.joins("a", "a=1")
				f.expires(97, "/m/a")
				f.passes(1100 * time.Millisecond)
				f.views("c", "")
			}},
		{name: "acknowledged, not there", bad: Presence,
			says: `a's join (steps 2 to 3) was acknowledged, but a was not there with "1"`,
			build: func(f *fixture) {
				f.starts("a", 97)
				f.ret(f.call("a", ops.Join, "a=1"), OpOK, Result{})
			}},
		{name: "an earlier attempt has done it", build: func(f *fixture) {
			op := f.call("a", ops.Join, "a=1")
			f.creates("a", 97, "/m/a", "1", 97)
			f.ret(op, OpUnknown, Result{})
			f.ret(f.call("a", ops.Join, "a=1"), OpOK, Result{})
		}},
		{name: "is still there", bad: Presence,
			says: "a's leave (steps 4 to 5) was acknowledged, but /m/a is still there",
			build: func(f *fixture) {
				f.joins("a", "a=1")
				f.ret(f.call("a", ops.Leave, "a"), OpOK, Result{Session: 97})
			}},
		{name: "an expired session's znode is still there", build: func(f *fixture) {
			f.joins("a", "a=1")
			f.ret(f.call("a", ops.Leave, "a"), OpOK, Result{Session: 98})
			f.expires(97, "/m/a")
			f.left = &Leftovers{}
		}},
		{name: "is still there, of an unknown session", bad: Presence, says: "is still there",
			build: func(f *fixture) {
				f.joins("a", "a=1")
				f.ret(f.call("a", ops.Leave, "a"), OpOK, Result{})
			}},
		{name: "an unknown session was told to have expired", build: func(f *fixture) {
			f.joins("a", "a=1")
			f.told("a", SessionExpired)
			f.ret(f.call("a", ops.Leave, "a"), OpOK, Result{})
			f.expires(97, "/m/a")
			f.left = &Leftovers{}
		}},
		{name: "comes back after it has left", bad: Presence,
			says: "/m/a came back at step 7, though it had left (a's leave (steps 4 to 6))",
			build: func(f *fixture) {
				f.joins("a", "a=1")
				f.leaves("a", "a")
				f.creates("a", 97, "/m/a", "1", 97)
			}},
		{name: "deleted by another", bad: Safety, says: "b deleted /m/a at step 4, which was a's",
			build: func(f *fixture) {
				f.joins("a", "a=1")
				f.gone("b", "a")
			}},
		{name: "deleted by the next process of its owner", build: func(f *fixture) {
			f.joins("a", "a=1")
			f.told("a", Died)
			op := f.call("d", ops.Join, "a=2")
			f.gone("d", "a")
			f.creates("d", 100, "/m/a", "2", 100)
			f.ret(op, OpOK, Result{Session: 100})
		}},
		{name: "deleted by a client that has not joined it", bad: Safety,
			says: "d deleted /m/a at step 5, which was a's", build: func(f *fixture) {
				f.joins("a", "a=1")
				f.told("a", Died)
				f.gone("d", "a")
			}},
		{name: "deleted by a client that joins it before its owner has died", bad: Safety,
			says: "d deleted /m/a at step 5, which was a's", build: func(f *fixture) {
				f.joins("a", "a=1")
				op := f.call("d", ops.Join, "a=2")
				f.gone("d", "a")
				f.told("a", Died)
				f.creates("d", 100, "/m/a", "2", 100)
				f.ret(op, OpOK, Result{Session: 100})
			}},
		{name: "evicted", build: func(f *fixture) {
			f.joins("a", "a=1")
			op := f.call("b", ops.Evict, "a")
			f.gone("b", "a")
			f.ret(op, OpOK, Result{})
			f.creates("a", 97, "/m/a", "1", 97)
		}},
		{name: "left at rest", bad: Orphans, says: "/m/a (session 0x61) is left below /m",
			build: func(f *fixture) {
				f.joins("a", "a=1")
				op := f.call("a", ops.Leave, "a")
				f.ret(op, OpUnknown, Result{})
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}, {Path: "/m/a", Owner: 97}}}
			}},
		{name: "a view that never returns", bad: Liveness,
			says: "c's view (step 1, pending) never returned", build: func(f *fixture) {
				f.call("c", ops.View, "")
				f.left = &Leftovers{}
			}},
	}, func(f *fixture) {
		f.passes(2 * time.Second)
		f.views("d", f.shown())
	})
}

// shown is the right view at the end.
func (f *fixture) shown() string {
	c := newMemberTable(f.history().sorted(), Membership{Path: "/m"})
	return c.truth.names[len(c.truth.names)-1].value
}

// TestMembershipWithoutALog: without a log there are no violations.
func TestMembershipWithoutALog(t *testing.T) {
	f := &fixture{}
	f.views("c", "a,b")
	f.ret(f.call("a", ops.Join, "a=1"), OpOK, Result{})
	h := f.history()
	h.Server = nil
	checkReport(t, Judge(h, &Leftovers{}, Membership{Path: "/m", Within: 1}), "", "")
}

// TestInstancesWithNamesOfTheirOwn has znodes whose data is the name of the instance.
func TestInstancesWithNamesOfTheirOwn(t *testing.T) {
	claims := Membership{Path: "/m", Within: time.Second,
		Instance: func(path, znode string) (name, data string, ok bool) {
			return strings.Cut(znode, ":")
		}, Data: true}
	registers := func(f *fixture, client, znode string) {
		op := f.call(client, ops.Join, client+"=1")
		f.creates(client, memberSession(client), "/m/s/"+znode, client+":1", memberSession(client))
		f.ret(op, OpOK, Result{Session: memberSession(client)})
	}
	checkHistories(t, always(claims), []claimTest{
		{name: "one znode after another", build: func(f *fixture) {
			registers(f, "a", "n-1")
			registers(f, "b", "n-2")
			f.views("c", "a=1,b=1")
			f.gone("b", "s/n-2")
			f.views("c", "a=1")
		}},
		{name: "two znodes of one instance", build: func(f *fixture) {
			registers(f, "a", "n-1")
			f.creates("a", memberSession("a"), "/m/s/n-2", "a:1", memberSession("a"))
			f.gone("a", "s/n-1")
			f.passes(2 * time.Second)
			f.views("c", "a=1")
		}},
		{name: "gone with its last znode", bad: Answers,
			says: "c's view (steps 2005 to 2006) shows a=1, as it was until step 4",
			build: func(f *fixture) {
				registers(f, "a", "n-1")
				f.gone("a", "s/n-1")
				f.passes(2 * time.Second)
				f.views("c", "a=1")
			}},
	})
}
