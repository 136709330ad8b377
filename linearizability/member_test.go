package linearizability

import (
	"testing"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

// joins is a whole, undisturbed join of "instance=data" below /m.
func (f *fixture) joins(client, entry string) int64 {
	instance, data := cutData(entry)
	op := f.call(client, ops.Join, entry)
	step := f.creates(client, memberSession(client), "/m/"+instance, data, memberSession(client))
	f.ret(op, OpOK, Result{Session: memberSession(client)})
	return step
}

func memberSession(client string) int64 { return int64(client[0]) }

// leaves is a whole, undisturbed leave.
func (f *fixture) leaves(client, instance string) {
	op := f.call(client, ops.Leave, instance)
	f.gone(client, instance)
	f.ret(op, OpOK, Result{Session: memberSession(client)})
}

// gone is a deletion by a client.
func (f *fixture) gone(client, instance string) {
	f.deletes(client, memberSession(client), "/m/"+instance, 1)
}

// views is a look.
func (f *fixture) views(client, shown string) {
	f.ret(f.call(client, ops.View, ""), OpOK, Result{Output: shown, Empty: shown == ""})
}

// picks is a choice.
func (f *fixture) picks(client, service, chosen string) {
	f.ret(f.call(client, ops.Pick, service), OpOK, Result{Output: chosen, Empty: chosen == ""})
}

// passes lets time pass, a millisecond each step.
func (f *fixture) passes(d time.Duration) { f.step += int64(d / time.Millisecond) }

func TestGroups(t *testing.T) {
	tests := []struct {
		name      string
		build     func(f *fixture) *Leftovers
		bad, says string
	}{
		{name: "come and go", build: func(f *fixture) *Leftovers {
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
			return &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}}, Watches: []WatchAtRest{{"c", "/m"}}}
		}},
		{name: "shows a member who never was", bad: Answers,
			says: "c's view (steps 4 to 5) shows a,x, which was never so",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "a=1")
				f.views("c", "a,x")
				return nil
			}},
		{name: "shows what never was at one moment", bad: Answers,
			says: "shows b, which was never so", build: func(f *fixture) *Leftovers {
				f.joins("a", "a=1")
				f.joins("b", "b=1")
				f.views("c", "b")
				return nil
			}},
		{name: "shows what is to come", bad: Answers, says: "never so",
			build: func(f *fixture) *Leftovers {
				f.views("c", "a")
				f.joins("a", "a=1")
				return nil
			}},
		{name: "goes back", bad: Answers,
			says: "shows nobody, as it was until step 2, after something newer was shown",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "a=1")
				f.views("c", "a")
				f.views("c", "")
				return nil
			}},
		{name: "others may lag behind", build: func(f *fixture) *Leftovers {
			f.joins("a", "a=1")
			f.views("c", "a")
			f.views("b", "")
			return nil
		}},
		{name: "does not converge", bad: Answers,
			says: "shows nobody, as it was until step 2, 2.002s before the call, and views may " +
				"lag by 1s", build: func(f *fixture) *Leftovers {
				f.joins("a", "a=1")
				f.passes(2 * time.Second)
				f.views("c", "")
				return nil
			}},
		{name: "keeps the dead", bad: Answers, says: "shows a, as it was until step 4",
			build: func(f *fixture) *Leftovers {
				op := f.call("a", ops.Join, "a=1")
				f.creates("a", 97, "/m/a", "1", 97)
				f.ret(op, OpUnknown, Result{})
				f.expires(97, "/m/a")
				f.passes(2 * time.Second)
				f.views("c", "a")
				return nil
			}},
		{name: "comes back after an expiry", build: func(f *fixture) *Leftovers {
			f.joins("a", "a=1")
			f.expires(97, "/m/a")
			f.passes(900 * time.Millisecond)
			f.creates("a", 98, "/m/a", "1", 98)
			f.passes(9 * time.Second)
			return &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}, {Path: "/m/a", Owner: 98}}}
		}},
		{name: "comes back too late", bad: Presence,
			says: `a has not been there with "1" for 1.101s since step 4, though it had joined ` +
				`(a's join (steps 1 to 3))`, build: func(f *fixture) *Leftovers {
				f.joins("a", "a=1")
				f.expires(97, "/m/a")
				f.passes(1100 * time.Millisecond)
				f.creates("a", 98, "/m/a", "1", 98)
				return nil
			}},
		{name: "never comes back", bad: Presence, says: "has not been there",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "a=1")
				f.expires(97, "/m/a")
				f.passes(1100 * time.Millisecond)
				f.views("c", "")
				return nil
			}},
		{name: "acknowledged, not there", bad: Presence,
			says: `a's join (steps 2 to 3) was acknowledged, but a was not there with "1"`,
			build: func(f *fixture) *Leftovers {
				f.starts("a", 97)
				f.ret(f.call("a", ops.Join, "a=1"), OpOK, Result{})
				return nil
			}},
		{name: "an earlier attempt has done it", build: func(f *fixture) *Leftovers {
			op := f.call("a", ops.Join, "a=1")
			f.creates("a", 97, "/m/a", "1", 97)
			f.ret(op, OpUnknown, Result{})
			f.ret(f.call("a", ops.Join, "a=1"), OpOK, Result{})
			return nil
		}},
		{name: "is still there", bad: Presence,
			says: "a's leave (steps 4 to 5) was acknowledged, but /m/a is still there",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "a=1")
				f.ret(f.call("a", ops.Leave, "a"), OpOK, Result{Session: 97})
				return nil
			}},
		{name: "an expired session's znode is still there", build: func(f *fixture) *Leftovers {
			f.joins("a", "a=1")
			f.ret(f.call("a", ops.Leave, "a"), OpOK, Result{Session: 98})
			f.expires(97, "/m/a")
			return &Leftovers{}
		}},
		{name: "comes back after it has left", bad: Presence,
			says: "/m/a came back at step 7, though it had left (a's leave (steps 4 to 6))",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "a=1")
				f.leaves("a", "a")
				f.creates("a", 97, "/m/a", "1", 97)
				return nil
			}},
		{name: "deleted by another", bad: Safety, says: "b deleted /m/a at step 4, which was a's",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "a=1")
				f.gone("b", "a")
				return nil
			}},
		{name: "evicted", build: func(f *fixture) *Leftovers {
			f.joins("a", "a=1")
			op := f.call("b", ops.Evict, "a")
			f.gone("b", "a")
			f.ret(op, OpOK, Result{})
			f.creates("a", 97, "/m/a", "1", 97)
			return nil
		}},
		{name: "left at rest", bad: Orphans, says: "/m/a (session 0x61) is left below /m",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "a=1")
				op := f.call("a", ops.Leave, "a")
				f.ret(op, OpUnknown, Result{})
				return &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}, {Path: "/m/a", Owner: 97}}}
			}},
		{name: "a view that never returns", bad: Liveness,
			says: "c's view (step 1, pending) never returned", build: func(f *fixture) *Leftovers {
				f.call("c", ops.View, "")
				return &Leftovers{}
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fixture{}
			rest := tt.build(f)
			f.passes(2 * time.Second)
			f.views("d", f.shown())
			r := Judge(f.history(), rest, Membership{Path: "/m", Within: time.Second})
			checkReport(t, r, tt.bad, tt.says)
		})
	}
}

// shown is what is so in the end.
func (f *fixture) shown() string {
	c := newMemberTable(f.history().sorted(), Membership{Path: "/m"})
	return c.truth.names[len(c.truth.names)-1].value
}

func TestRegistries(t *testing.T) {
	tests := []struct {
		name      string
		build     func(f *fixture) *Leftovers
		bad, says string
	}{
		{name: "two services", build: func(f *fixture) *Leftovers {
			f.joins("a", "web/a=1")
			f.joins("b", "mail/b=1")
			f.views("c", "mail/b=1,web/a=1")
			f.picks("c", "web", "web/a=1")
			f.leaves("a", "web/a")
			f.views("c", "mail/b=1")
			f.picks("c", "web", "")
			f.leaves("b", "mail/b")
			return &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}}}
		}},
		{name: "instances need not be of one moment", build: func(f *fixture) *Leftovers {
			f.joins("a", "web/a=1")
			f.leaves("a", "web/a")
			f.joins("b", "web/b=1")
			f.views("c", "web/a=1,web/b=1")
			f.views("c", "web/b=1")
			return nil
		}},
		{name: "an update", build: func(f *fixture) *Leftovers {
			f.joins("a", "web/a=1")
			op := f.call("a", ops.Update, "web/a=2")
			f.stores("a", "/m/web/a", "2")
			f.ret(op, OpOK, Result{})
			f.views("c", "web/a=1")
			f.views("c", "web/a=2")
			return nil
		}},
		{name: "data that never was", bad: Answers,
			says: "c's view (steps 4 to 5) shows web/a=2, which was never so",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "web/a=1")
				f.views("c", "web/a=2")
				return nil
			}},
		{name: "data goes back", bad: Answers,
			says: "shows web/a=1, as it was until step 5, after something newer",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "web/a=1")
				op := f.call("a", ops.Update, "web/a=2")
				f.stores("a", "/m/web/a", "2")
				f.ret(op, OpOK, Result{})
				f.views("c", "web/a=2")
				f.views("c", "web/a=1")
				return nil
			}},
		{name: "an instance is missed for ever", bad: Answers,
			says: "does not show web/a, as it was until step 2",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "web/a=1")
				f.passes(2 * time.Second)
				f.views("c", "")
				return nil
			}},
		{name: "picks the dead", bad: Answers,
			says: "c's pick (steps 11 to 12) shows web/a=1, as it was until step 7, after " +
				"something newer", build: func(f *fixture) *Leftovers {
				f.joins("a", "web/a=1")
				f.views("c", "web/a=1")
				f.leaves("a", "web/a")
				f.views("c", "")
				f.picks("c", "web", "web/a=1")
				return nil
			}},
		{name: "picks nothing, though there is something", bad: Answers,
			says: "c's pick (steps 6 to 7) does not show web/a",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "web/a=1")
				f.views("c", "web/a=1")
				f.picks("c", "web", "")
				return nil
			}},
		{name: "picks nothing of another service", build: func(f *fixture) *Leftovers {
			f.joins("a", "web/a=1")
			f.views("c", "web/a=1")
			f.picks("c", "mail", "")
			return nil
		}},
		{name: "an update is lost", bad: Presence,
			says: `was acknowledged, but web/a was not there with "2"`,
			build: func(f *fixture) *Leftovers {
				f.joins("a", "web/a=1")
				f.ret(f.call("a", ops.Update, "web/a=2"), OpOK, Result{})
				return nil
			}},
		{name: "comes back with old data", bad: Presence, says: `web/a has not been there with "2"`,
			build: func(f *fixture) *Leftovers {
				f.joins("a", "web/a=1")
				op := f.call("a", ops.Update, "web/a=2")
				f.stores("a", "/m/web/a", "2")
				f.ret(op, OpOK, Result{})
				f.expires(97, "/m/web/a")
				f.creates("a", 98, "/m/web/a", "1", 98)
				return nil
			}},
		{name: "an empty service is left", bad: Orphans, says: "/m/web is left without instances",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "web/a=1")
				f.leaves("a", "web/a")
				return &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}, {Path: "/m/web"}}}
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fixture{}
			rest := tt.build(f)
			f.passes(2 * time.Second)
			f.ret(f.call("d", ops.View, "of something else"), OpFailed, Result{})
			r := Judge(f.history(), rest, Membership{Path: "/m", Services: true, Within: time.Second})
			checkReport(t, r, tt.bad, tt.says)
		})
	}
}

// TestMembershipWithoutALog: nothing is invented.
func TestMembershipWithoutALog(t *testing.T) {
	f := &fixture{}
	f.views("c", "a,b")
	f.ret(f.call("a", ops.Join, "a=1"), OpOK, Result{})
	h := f.history()
	h.Server = nil
	checkReport(t, Judge(h, &Leftovers{}, Membership{Path: "/m", Within: 1}), "", "")
}

// spoils is a write by somebody into the instance of another.
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

// gaveUp is a join that was given up while another had the instance.
func (f *fixture) gaveUp(client, entry string) {
	f.ret(f.call(client, ops.Join, entry), OpUnknown, Result{Session: memberSession(client)})
}

// overtaken is a leave of b's whose deletion comes when a has the instance.
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
	tests := []struct {
		name      string
		build     func(f *fixture) *Leftovers
		bad, says string
	}{
		{name: "one after the other", build: func(f *fixture) *Leftovers {
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
			return &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}, {Path: "/m/x", Owner: 99},
				{Path: "/m/secret"}}}
		}},
		{name: "one loses it to the other", build: func(f *fixture) *Leftovers {
			f.joins("a", "x=a1")
			f.gaveUp("b", "x=b1")
			f.expires(97, "/m/x")
			f.creates("b", 98, "/m/x", "b1", 98)
			f.passes(5 * time.Second)
			return nil
		}},
		{name: "nobody takes over", bad: Presence, says: "nobody has had x, with his data, for 5.",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "x=a1")
				f.gaveUp("b", "x=b1")
				f.leaves("a", "x")
				f.passes(5 * time.Second)
				f.views("c", "")
				return nil
			}},
		{name: "has it, as he says, and another does", bad: Presence,
			says: `b's join (steps 4 to 5) was acknowledged, but x was not there with "b1"`,
			build: func(f *fixture) *Leftovers {
				f.joins("a", "x=a1")
				f.ret(f.call("b", ops.Join, "x=b1"), OpOK, Result{Session: 98})
				return nil
			}},
		{name: "deletes the rival's", bad: Safety, says: "b deleted /m/x at step 5, which was a's",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "x=a1")
				op := f.call("b", ops.Leave, "x")
				f.gone("b", "x")
				f.ret(op, OpOK, Result{Session: 98})
				return nil
			}},
		{name: "has sent it when the instance was his own", build: func(f *fixture) *Leftovers {
			overtaken(f, 98, 10*time.Millisecond)
			return nil
		}},
		{name: "has sent it long ago", bad: Safety, says: "b deleted /m/x",
			build: func(f *fixture) *Leftovers {
				overtaken(f, 98, time.Second)
				return nil
			}},
		{name: "has sent it in another session", bad: Safety, says: "b deleted /m/x",
			build: func(f *fixture) *Leftovers {
				overtaken(f, 198, 10*time.Millisecond)
				return nil
			}},
		{name: "writes into the rival's", bad: Safety,
			says: `b wrote "graffiti" into /m/x at step 4, which was a's`,
			build: func(f *fixture) *Leftovers {
				f.joins("a", "x=a1")
				f.spoils("b", "x", false)
				return nil
			}},
		{name: "was asked to, and it is repaired", build: func(f *fixture) *Leftovers {
			f.joins("a", "x=a1")
			f.spoils("b", "x", true)
			f.stores("a", "/m/x", "a1")
			f.passes(5 * time.Second)
			f.views("c", "x=a1")
			return nil
		}},
		{name: "is not repaired", bad: Presence, says: "nobody has had x, with his data",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "x=a1")
				f.spoils("b", "x", true)
				f.passes(5 * time.Second)
				f.views("c", "x=graffiti")
				return nil
			}},
		{name: "shows old data", bad: Answers, says: "shows x=a1, as it was until step",
			build: func(f *fixture) *Leftovers {
				f.joins("a", "x=a1")
				f.spoils("b", "x", true)
				f.stores("a", "/m/x", "a2")
				f.passes(5 * time.Second)
				f.views("c", "x=a1")
				return nil
			}},
		{name: "hides more than what may not be read", bad: Answers, says: "does not show x",
			build: func(f *fixture) *Leftovers {
				f.creates("c", 99, "/m/secret", "s", 0)
				f.joins("a", "x=a1")
				f.passes(5 * time.Second)
				f.views("c", "")
				return nil
			}},
		{name: "is left behind", bad: Orphans, says: "/m/x", build: func(f *fixture) *Leftovers {
			f.joins("a", "x=a1")
			f.gaveUp("b", "x=b1")
			f.leaves("a", "x")
			f.ret(f.call("b", ops.Leave, "x"), OpOK, Result{Session: 98})
			return &Leftovers{Nodes: []NodeAtRest{{Path: "/m"}, {Path: "/m/x", Owner: 98}}}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fixture{}
			rest := tt.build(f)
			opts := Membership{Path: "/m", Data: true, Rivals: true, Late: 100 * time.Millisecond,
				Hidden: []string{"secret"}, Within: time.Second, AllowedAtRest: []string{"/m/secret"}}
			checkReport(t, Judge(f.history(), rest, opts), tt.bad, tt.says)
		})
	}
}
