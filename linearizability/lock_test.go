package linearizability

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/zksim/zksim/linearizability/ops"
)

type lockTest = historyTest[Lock]

// lockAt claims a lock, at /lock by default.
func lockAt(opts Lock) Claims {
	opts.Path = cmp.Or(opts.Path, "/lock")
	return opts
}

func TestLockSafetyBeliefAndFencing(t *testing.T) {
	checkHistories(t, lockAt, []lockTest{
		{name: "one after the other", build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.unlock("a", 1, node("a", 0))
			f.lock("b", 2, node("b", 1))
			f.unlock("b", 2, node("b", 1))
			f.left = &Leftovers{}
		}},
		{name: "two at once", bad: Safety, says: "a and b own the lock at once",
			build: func(f *fixture) {
				f.lock("a", 1, node("a", 0))
				f.lock("b", 2, node("b", 1))
			}},
		{name: "two at once, believed", bad: Belief,
			says: "a and b both believe that they hold the lock at step 6", build: twoAtOnce},
		{name: "two at once, not linearizable", bad: Linearizability, says: "it goes wrong with b",
			build: twoAtOnce},
		{name: "zombie", build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.expires(1, node("a", 0))
			f.lock("b", 2, node("b", 1))
			f.told("a", SessionExpired)
			f.unlock("b", 2, node("b", 1))
			f.left = &Leftovers{}
		}},
		{name: "told, but the session znodes on", bad: Safety, says: "a and b own the lock at once",
			build: func(f *fixture) {
				f.lock("a", 1, node("a", 0))
				f.told("a", Disconnected)
				f.lock("b", 2, node("b", 1))
			}},
		{name: "good news after the expiry", build: func(f *fixture) {
			op := f.call("a", ops.Lock, "")
			token := f.creates("a", 1, node("a", 0), "", 1)
			f.expires(1, node("a", 0))
			f.lock("b", 2, node("b", 1))
			f.ret(op, OpOK, Result{Token: token, Session: 1})
			f.told("a", SessionExpired)
			f.unlock("b", 2, node("b", 1))
			f.left = &Leftovers{}
		}},
		{name: "phantom: told of the expiry before", bad: Safety,
			says: "client a returned from lock at step 5 without a znode of its own",
			build: func(f *fixture) {
				op := f.call("a", ops.Lock, "")
				token := f.creates("a", 1, node("a", 0), "", 1)
				f.expires(1, node("a", 0))
				f.told("a", SessionExpired)
				f.ret(op, OpOK, Result{Token: token, Session: 1})
			}},
		{name: "phantom: in a new session", bad: Safety,
			says: "belongs to session 0x1, but the client is in session 0x2",
			build: func(f *fixture) {
				f.starts("a", 1)
				op := f.call("a", ops.Lock, "")
				f.creates("a", 1, node("a", 0), "", 1)
				f.expires(1, node("a", 0))
				f.starts("a", 2)
				f.ret(op, OpOK, Result{Session: 2})
			}},
		{name: "phantom: the dying session's znode is adopted", bad: Safety,
			says: "belongs to session 0x1", build: func(f *fixture) {
				op := f.call("a", ops.Lock, "")
				token := f.creates("a", 1, node("a", 0), "", 1)
				f.expires(1)
				f.starts("a", 2)
				f.ret(op, OpOK, Result{Session: 2, Token: token})
			}},
		{name: "phantom: another client's znode is adopted", bad: Safety,
			says: "it adopted /lock/b-0000000000, which client b made at step 7 in session 0x1, " +
				"but the client is in session 0x2",
			build: func(f *fixture) {
				f.lock("a", 2, node("a", 0))
				f.unlock("a", 2, node("a", 0))
				token := f.creates("b", 1, node("b", 0), "", 1)
				f.ret(f.call("a", ops.Lock, ""), OpOK, Result{Session: 2, Token: token})
			}},
		{name: "phantom: never created", bad: Safety, says: "it never created one",
			build: func(f *fixture) {
				f.lock("a", 1, node("a", 0))
				f.unlock("a", 1, node("a", 0))
				f.ret(f.call("b", ops.Lock, ""), OpOK, Result{Session: 2})
			}},
		{name: "tokens fall", bad: Fencing,
			says: "b was granted the lock at step 7 with token 2, but a had token 3",
			build: func(f *fixture) {
				b, a := f.call("b", ops.Lock, ""), 0
				tokenB := f.creates("b", 2, node("b", 0), "", 2)
				tokenA := f.creates("a", 1, node("a", 1), "", 1)
				a = f.call("a", ops.Lock, "")
				f.ret(a, OpOK, Result{Token: tokenA, Session: 1})
				f.deletes("a", 1, node("a", 1), 0)
				f.ret(b, OpOK, Result{Token: tokenB, Session: 2})
			}},
		{name: "unlock is idempotent after an expiry", build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.expires(1, node("a", 0))
			f.ret(f.call("a", ops.Unlock, ""), OpOK, Result{})
			f.left = &Leftovers{}
		}},
		{name: "unlock lost its reply", build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			op := f.call("a", ops.Unlock, "")
			f.deletes("a", 1, node("a", 0), 1)
			f.lock("b", 2, node("b", 1))
			f.ret(op, OpUnknown, Result{})
			f.unlock("b", 2, node("b", 1))
			f.left = &Leftovers{}
		}},
		{name: "re-entrant", build: func(f *fixture) {
			token := f.lock("a", 1, node("a", 0))
			f.ret(f.call("a", ops.Lock, ""), OpOK, Result{Token: token, Session: 1})
			f.ret(f.call("a", ops.Unlock, ""), OpOK, Result{})
			f.unlock("a", 1, node("a", 0))
			f.left = &Leftovers{}
		}},
	})
}

func twoAtOnce(f *fixture) {
	f.lock("a", 1, node("a", 0))
	f.lock("b", 2, node("b", 1))
}

func TestLockWithoutServerLog(t *testing.T) {
	checkHistories(t, lockAt, []lockTest{
		{name: "one after the other", build: func(f *fixture) {
			blind(f, "a", "b")
		}},
		{name: "two at once", bad: Safety, says: "a and b own", build: func(f *fixture) {
			f.ret(f.call("a", ops.Lock, ""), OpOK, Result{})
			f.ret(f.call("b", ops.Lock, ""), OpOK, Result{})
		}},
		{name: "two at once, but a was told of an expiry", build: func(f *fixture) {
			f.ret(f.call("a", ops.Lock, ""), OpOK, Result{})
			f.ret(f.call("b", ops.Lock, ""), OpOK, Result{})
			f.told("a", SessionExpired)
		}},
		{name: "unlock unknown, then granted to another", build: func(f *fixture) {
			f.ret(f.call("a", ops.Lock, ""), OpOK, Result{})
			f.ret(f.call("a", ops.Unlock, ""), OpUnknown, Result{})
			blind(f, "b")
		}},
	})
}

func blind(f *fixture, clients ...string) {
	for _, c := range clients {
		f.ret(f.call(c, ops.Lock, ""), OpOK, Result{})
		f.ret(f.call(c, ops.Unlock, ""), OpOK, Result{})
	}
}

func TestLockFairnessAndHerd(t *testing.T) {
	overtaken := func(f *fixture) {
		a := f.call("a", ops.Lock, "")
		token := f.creates("a", 1, node("a", 0), "", 1)
		f.lock("b", 2, node("b", 1))
		f.unlock("b", 2, node("b", 1))
		f.ret(a, OpOK, Result{Session: 1, Token: token})
	}
	inTurn := func(f *fixture) {
		f.lock("a", 1, node("a", 0))
		b := f.call("b", ops.Lock, "")
		token := f.creates("b", 2, node("b", 1), "", 2)
		f.unlock("a", 1, node("a", 0))
		f.ret(b, OpOK, Result{Session: 2, Token: token})
	}
	checkHistories(t, lockAt, []lockTest{
		{name: "in turn", opts: Lock{Fair: true, MaxHerd: 1}, build: inTurn},
		{
			name: "overtaken", opts: Lock{Fair: true}, bad: Order, says: "b overtook a",
			build: overtaken,
		},
		{name: "no claim to fairness", build: func(f *fixture) {
			overtaken(f)
			for i := range f.h.Ops {
				f.h.Ops[i].Token = 0
			}
		}},
		{name: "overtaken for good", opts: Lock{Fair: true}, bad: Order,
			says: "while a waited with the older /lock/a-0000000000",
			build: func(f *fixture) {
				f.call("a", ops.Lock, "")
				f.creates("a", 1, node("a", 0), "", 1)
				f.lock("b", 2, node("b", 1))
			}},
		{name: "herd", opts: Lock{MaxHerd: 1}, bad: Herd,
			says: "the release at step 5 fired 7 watch notifications",
			build: func(f *fixture) {
				f.lock("a", 1, node("a", 0))
				op := f.call("a", ops.Unlock, "")
				f.deletes("a", 1, node("a", 0), 7)
				f.ret(op, OpOK, Result{})
			}},
	})
}

func TestLockLivenessAndOrphans(t *testing.T) {
	waiting := func(client, path string) []Wait {
		return []Wait{{Client: client, Op: ops.Lock, Path: path}}
	}
	checkHistories(t, lockAt, []lockTest{
		{name: "waiting behind a holder", build: func(f *fixture) {
			token := f.lock("a", 1, node("a", 0))
			f.call("b", ops.Lock, "")
			own := f.creates("b", 2, node("b", 1), "", 2)
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/lock"},
				{
					Path: node("a", 0), Owner: 1, Czxid: token,
				}, {Path: node("b", 1), Owner: 2, Czxid: own}},
				Waiting: waiting("b", node("a", 0))}
		}},
		{name: "self-deadlock", bad: Liveness,
			says: "client b waits for /lock/b-0000000000, which belongs to b's own session 0x2 " +
				"and was left by b's lock (first attempt, create at step 2): b does not know of it",
			build: func(f *fixture) {
				f.call("b", ops.Lock, "")
				first := f.creates("b", 2, node("b", 0), "", 2)
				second := f.creates("b", 2, node("b", 1), "", 2)
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: node("b", 0), Owner: 2, Czxid: first,
					OwnerClient: "b"}, {
					Path: node("b", 1), Owner: 2, Czxid: second, OwnerClient: "b",
				}},
					Waiting: waiting("b", node("b", 0))}
			}},
		{name: "behind a forgotten znode", bad: Liveness,
			says: "and was left by a's lock (steps 1 to 3, unknown: connection closed): a does " +
				"not know of it, and nobody will delete it", build: forgotten},
		{name: "forgotten znode", bad: Orphans,
			says: "/lock/a-0000000000 (session 0x1) was left by a's lock", build: forgotten},
		{name: "forgotten znode is allowed",
			opts: Lock{AllowedAtRest: []string{"/lock/a-*", "/lock/deep/a-*"}},
			build: func(f *fixture) {
				forgotten(f)
				f.h.Ops, f.left.Waiting, f.left.Nodes = f.h.Ops[:1], nil, f.left.Nodes[:1]
			}},
		{name: "behind a client that waits behind a forgotten znode", bad: Liveness,
			says: "client b waits for /lock/a-0000000000, which belongs to a's session 0x1 and " +
				"was left",
			build: func(f *fixture) {
				f.call("c", ops.Lock, "")
				third := f.creates("c", 3, node("c", 2), "", 3)
				forgotten(f)
				f.left.Nodes = append(f.left.Nodes,
					NodeAtRest{Path: node("c", 2), Owner: 3, Czxid: third})
				f.left.Waiting = append(f.left.Waiting, waiting("c", node("b", 1))...)
			}},
		{name: "a lost delete of a forgotten znode", bad: Orphans,
			says: "was left by a's lock (steps 1 to 3, unknown: connection closed); a delete of " +
				"it was lost at step 4",
			build: func(f *fixture) {
				forgotten(f)
				f.left.Nodes[0].LostDelete = 4
			}},
		{name: "polling a forgotten znode", bad: Liveness,
			says: "client b polls /lock/a-0000000000, 9 times so far, which belongs to a's " +
				"session 0x1",
			build: func(f *fixture) {
				forgotten(f)
				f.left.Waiting[0].Polls = 9
			}},
		{name: "polling behind a holder", build: func(f *fixture) {
			token := f.lock("a", 1, node("a", 0))
			f.call("b", ops.Lock, "")
			f.left = &Leftovers{
				Nodes: []NodeAtRest{{Path: node("a", 0), Owner: 1, Czxid: token}},
				Waiting: []Wait{
					{Client: "b", Op: ops.Lock, Path: node("a", 0), Polls: 9},
				}}
		}},
		{name: "polling a znode that is gone", bad: Liveness,
			says: "client b polls /lock/a-0000000000, 9 times so far; it does not exist, and b's " +
				"lock (step 1, pending) never returned",
			build: func(f *fixture) {
				f.call("b", ops.Lock, "")
				f.left = &Leftovers{Waiting: []Wait{
					{Client: "b", Op: ops.Lock, Path: node("a", 0), Polls: 9},
				}}
			}},
		{name: "missed wake-up", bad: Liveness, says: "which does not exist: it missed the delete",
			build: func(f *fixture) {
				f.call("b", ops.Lock, "")
				own := f.creates("b", 2, node("b", 1), "", 2)
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: node("b", 1), Owner: 2, Czxid: own}},
					Waiting: waiting("b", node("a", 0))}
			}},
		{name: "dead session's znode", bad: Liveness,
			says: "that session has ended, but the znode is still there",
			build: func(f *fixture) {
				forgotten(f)
				f.expires(1)
			}},
		{name: "unlock hangs", bad: Liveness, says: "a's unlock (step 4, pending) never returned",
			build: func(f *fixture) {
				f.lock("a", 1, node("a", 0))
				f.call("a", ops.Unlock, "")
				f.left = &Leftovers{}
			}},
		{name: "wedged in one more attempt", bad: Liveness, says: "wedged: a's lock has failed",
			build: func(f *fixture) {
				f.call("a", ops.Lock, "")
				f.left = &Leftovers{Waiting: []Wait{{Client: "a", Op: ops.Lock}},
					Wedged: []string{"a's lock has failed 99 times"}}
			}},
		{name: "wedged", bad: Liveness, says: "wedged: a in Close",
			build: func(f *fixture) { f.left = &Leftovers{Wedged: []string{"a in Close"}} }},
		{name: "leaks", bad: Orphans,
			says: "session 0x9 is alive and nobody's (and 2 more: a watch of a on /lock/x, " +
				"though a waits for nothing; a goroutine: loop)", build: func(f *fixture) {
				f.left = &Leftovers{Sessions: []SessionAtRest{{ID: 9}, {ID: 1, Client: "a"}},
					Watches: []WatchAtRest{{"a", "/lock/x"}}, Leaked: []string{"loop"}}
			}},
	})
}

// forgotten: a's create was applied but reported as unknown, and b waits for it.
func forgotten(f *fixture) {
	op := f.call("a", ops.Lock, "")
	left := f.creates("a", 1, node("a", 0), "", 1)
	f.ret(op, OpUnknown, Result{})
	f.call("b", ops.Lock, "")
	own := f.creates("b", 2, node("b", 1), "", 2)
	f.left = &Leftovers{
		Nodes: []NodeAtRest{{Path: node("a", 0), Owner: 1, Czxid: left},
			{Path: node("b", 1), Owner: 2, Czxid: own}},
		Waiting: []Wait{{Client: "b", Op: ops.Lock, Path: node("a", 0)}},
	}
}

func TestPendingCallIsUnknownWithoutLeftovers(t *testing.T) {
	f := &fixture{}
	f.call("a", ops.Lock, "")
	r := Judge(f.history(), nil, Lock{})
	if v, _ := r.Verdict(Liveness); v.Status != Unknown || r.Status() != Unknown ||
		r.First().Property != Liveness {
		t.Errorf("got\n%s", r)
	}
}

func TestZombieWindowIsMeasured(t *testing.T) {
	f := &fixture{}
	f.lock("a", 1, node("a", 0))   // steps 1 to 3
	f.expires(1, node("a", 0))     // step 4
	f.lock("b", 2, node("b", 1))   // steps 5 to 7
	f.told("a", SessionExpired)    // step 8
	f.unlock("b", 2, node("b", 1)) // steps 9 to 11
	r := Judge(f.history(), nil, Lock{Path: "/lock"})
	want := ZombieWindow{Client: "a", Session: 1, Path: node("a", 0), From: 4, To: 8, Duration: 4e6}
	if len(r.ZombieWindows) != 1 || r.ZombieWindows[0] != want {
		t.Errorf("got %+v, want %+v", r.ZombieWindows, want)
	}
	if r.Granted != 2 || r.LongestWait != 2e6 || r.MaxHerd != 1 {
		t.Errorf("got %d granted, the longest wait %s, herd %d", r.Granted, r.LongestWait,
			r.MaxHerd)
	}
}

// TestATokenStaysTheSame: a token that is read late in a hold is the one of the grant.
func TestATokenStaysTheSame(t *testing.T) {
	uses := func(f *fixture, token int64) {
		f.ret(f.call("a", ops.Use, ""), OpOK, Result{Token: token, Session: 1})
	}
	checkHistories(t, always(Lock{Path: "/lock"}), []claimTest{
		{name: "the same", build: func(f *fixture) {
			uses(f, f.lock("a", 1, node("a", 0)))
			f.unlock("a", 1, node("a", 0))
		}},
		{name: "another", bad: Fencing, says: "but reads token 3 at step", build: func(f *fixture) {
			uses(f, f.lock("a", 1, node("a", 0))+1)
			f.unlock("a", 1, node("a", 0))
		}},
		{name: "after the unlock", build: func(f *fixture) {
			token := f.lock("a", 1, node("a", 0))
			f.unlock("a", 1, node("a", 0))
			uses(f, token+1)
		}},
		{name: "after the end of the session", build: func(f *fixture) {
			token := f.lock("a", 1, node("a", 0))
			f.expires(1, node("a", 0))
			uses(f, token+1)
		}},
	})
}

// node returns the path of the n-th lock znode of a client.
func node(client string, n int) string { return fmt.Sprintf("/lock/%s-%010d", client, n) }

// lock records a complete lock; it returns the token.
func (f *fixture) lock(client string, session int64, path string) int64 {
	op := f.call(client, ops.Lock, "")
	token := f.creates(client, session, path, "", session)
	f.ret(op, OpOK, Result{Token: token, Session: session})
	return token
}

// unlock records a complete unlock.
func (f *fixture) unlock(client string, session int64, path string) {
	op := f.call(client, ops.Unlock, "")
	f.deletes(client, session, path, 1)
	f.ret(op, OpOK, Result{Session: session})
}
