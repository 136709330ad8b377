package lock

import (
	"cmp"
	"fmt"
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

type lockTest = historyTest[Claims]

// lockAt claims a lock, at /lock by default.
func lockAt(opts Claims) lin.Claims {
	opts.Path = cmp.Or(opts.Path, "/lock")
	return opts
}

func TestLockSafetyBeliefAndFencing(t *testing.T) {
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "one after the other", Build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.unlock("a", 1, node("a", 0))
			f.lock("b", 2, node("b", 1))
			f.unlock("b", 2, node("b", 1))
			f.Left = &lin.Leftovers{}
		}},
		{Name: "two at once", Bad: lin.Safety, Says: "a and b own the lock at once",
			Build: func(f *fixture) {
				f.lock("a", 1, node("a", 0))
				f.lock("b", 2, node("b", 1))
			}},
		{Name: "two at once, believed", Bad: lin.Belief,
			Says: "a and b both believe that they hold the lock at step 6", Build: twoAtOnce},
		{Name: "two at once, not linearizable", Bad: lin.Linearizability, Says: "it goes wrong with b",
			Build: twoAtOnce},
		{Name: "zombie", Build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.Expires(1, node("a", 0))
			f.lock("b", 2, node("b", 1))
			f.Told("a", lin.SessionExpired)
			f.unlock("b", 2, node("b", 1))
			f.Left = &lin.Leftovers{}
		}},
		{Name: "told, but the session znodes on", Bad: lin.Safety, Says: "a and b own the lock at once",
			Build: func(f *fixture) {
				f.lock("a", 1, node("a", 0))
				f.Told("a", lin.Disconnected)
				f.lock("b", 2, node("b", 1))
			}},
		{Name: "good news after the expiry", Build: func(f *fixture) {
			op := f.Call("a", ops.Lock, "")
			token := f.Creates("a", 1, node("a", 0), "", 1)
			f.Expires(1, node("a", 0))
			f.lock("b", 2, node("b", 1))
			f.Ret(op, lin.OpOK, lin.Result{Token: token, Session: 1})
			f.Told("a", lin.SessionExpired)
			f.unlock("b", 2, node("b", 1))
			f.Left = &lin.Leftovers{}
		}},
		{Name: "phantom: told of the expiry before", Bad: lin.Safety,
			Says: "client a returned from lock at step 5 without a znode of its own",
			Build: func(f *fixture) {
				op := f.Call("a", ops.Lock, "")
				token := f.Creates("a", 1, node("a", 0), "", 1)
				f.Expires(1, node("a", 0))
				f.Told("a", lin.SessionExpired)
				f.Ret(op, lin.OpOK, lin.Result{Token: token, Session: 1})
			}},
		{Name: "phantom: in a new session", Bad: lin.Safety,
			Says: "belongs to session 0x1, but the client is in session 0x2",
			Build: func(f *fixture) {
				f.Starts("a", 1)
				op := f.Call("a", ops.Lock, "")
				f.Creates("a", 1, node("a", 0), "", 1)
				f.Expires(1, node("a", 0))
				f.Starts("a", 2)
				f.Ret(op, lin.OpOK, lin.Result{Session: 2})
			}},
		{Name: "phantom: the dying session's znode is adopted", Bad: lin.Safety,
			Says: "belongs to session 0x1", Build: func(f *fixture) {
				op := f.Call("a", ops.Lock, "")
				token := f.Creates("a", 1, node("a", 0), "", 1)
				f.Expires(1)
				f.Starts("a", 2)
				f.Ret(op, lin.OpOK, lin.Result{Session: 2, Token: token})
			}},
		{Name: "phantom: another client's znode is adopted", Bad: lin.Safety,
			Says: "it adopted /lock/b-0000000000, which client b made at step 7 in session 0x1, " +
				"but the client is in session 0x2",
			Build: func(f *fixture) {
				f.lock("a", 2, node("a", 0))
				f.unlock("a", 2, node("a", 0))
				token := f.Creates("b", 1, node("b", 0), "", 1)
				f.Ret(f.Call("a", ops.Lock, ""), lin.OpOK, lin.Result{Session: 2, Token: token})
			}},
		{Name: "phantom: never created", Bad: lin.Safety, Says: "it never created one",
			Build: func(f *fixture) {
				f.lock("a", 1, node("a", 0))
				f.unlock("a", 1, node("a", 0))
				f.Ret(f.Call("b", ops.Lock, ""), lin.OpOK, lin.Result{Session: 2})
			}},
		{Name: "tokens fall", Bad: lin.Fencing,
			Says: "b was granted the lock at step 7 with token 2, but a had token 3",
			Build: func(f *fixture) {
				b, a := f.Call("b", ops.Lock, ""), 0
				tokenB := f.Creates("b", 2, node("b", 0), "", 2)
				tokenA := f.Creates("a", 1, node("a", 1), "", 1)
				a = f.Call("a", ops.Lock, "")
				f.Ret(a, lin.OpOK, lin.Result{Token: tokenA, Session: 1})
				f.Deletes("a", 1, node("a", 1), 0)
				f.Ret(b, lin.OpOK, lin.Result{Token: tokenB, Session: 2})
			}},
		{Name: "unlock is idempotent after an expiry", Build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.Expires(1, node("a", 0))
			f.Ret(f.Call("a", ops.Unlock, ""), lin.OpOK, lin.Result{})
			f.Left = &lin.Leftovers{}
		}},
		{Name: "unlock lost its reply", Build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			op := f.Call("a", ops.Unlock, "")
			f.Deletes("a", 1, node("a", 0), 1)
			f.lock("b", 2, node("b", 1))
			f.Ret(op, lin.OpUnknown, lin.Result{})
			f.unlock("b", 2, node("b", 1))
			f.Left = &lin.Leftovers{}
		}},
		{Name: "re-entrant", Build: func(f *fixture) {
			token := f.lock("a", 1, node("a", 0))
			f.Ret(f.Call("a", ops.Lock, ""), lin.OpOK, lin.Result{Token: token, Session: 1})
			f.Ret(f.Call("a", ops.Unlock, ""), lin.OpOK, lin.Result{})
			f.unlock("a", 1, node("a", 0))
			f.Left = &lin.Leftovers{}
		}},
	})
}

func twoAtOnce(f *fixture) {
	f.lock("a", 1, node("a", 0))
	f.lock("b", 2, node("b", 1))
}

func TestLockWithoutServerLog(t *testing.T) {
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "one after the other", Build: func(f *fixture) {
			blind(f, "a", "b")
		}},
		{Name: "two at once", Bad: lin.Safety, Says: "a and b own", Build: func(f *fixture) {
			f.Ret(f.Call("a", ops.Lock, ""), lin.OpOK, lin.Result{})
			f.Ret(f.Call("b", ops.Lock, ""), lin.OpOK, lin.Result{})
		}},
		{Name: "two at once, but a was told of an expiry", Build: func(f *fixture) {
			f.Ret(f.Call("a", ops.Lock, ""), lin.OpOK, lin.Result{})
			f.Ret(f.Call("b", ops.Lock, ""), lin.OpOK, lin.Result{})
			f.Told("a", lin.SessionExpired)
		}},
		{Name: "unlock unknown, then granted to another", Build: func(f *fixture) {
			f.Ret(f.Call("a", ops.Lock, ""), lin.OpOK, lin.Result{})
			f.Ret(f.Call("a", ops.Unlock, ""), lin.OpUnknown, lin.Result{})
			blind(f, "b")
		}},
	})
}

func blind(f *fixture, clients ...string) {
	for _, c := range clients {
		f.Ret(f.Call(c, ops.Lock, ""), lin.OpOK, lin.Result{})
		f.Ret(f.Call(c, ops.Unlock, ""), lin.OpOK, lin.Result{})
	}
}

func TestLockFairnessAndHerd(t *testing.T) {
	overtaken := func(f *fixture) {
		a := f.Call("a", ops.Lock, "")
		token := f.Creates("a", 1, node("a", 0), "", 1)
		f.lock("b", 2, node("b", 1))
		f.unlock("b", 2, node("b", 1))
		f.Ret(a, lin.OpOK, lin.Result{Session: 1, Token: token})
	}
	inTurn := func(f *fixture) {
		f.lock("a", 1, node("a", 0))
		b := f.Call("b", ops.Lock, "")
		token := f.Creates("b", 2, node("b", 1), "", 2)
		f.unlock("a", 1, node("a", 0))
		f.Ret(b, lin.OpOK, lin.Result{Session: 2, Token: token})
	}
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "in turn", Opts: Claims{Fair: true, MaxHerd: 1}, Build: inTurn},
		{
			Name: "overtaken", Opts: Claims{Fair: true}, Bad: lin.Order, Says: "b overtook a",
			Build: overtaken,
		},
		{Name: "no claim to fairness", Build: func(f *fixture) {
			overtaken(f)
			for i := range f.H.Ops {
				f.H.Ops[i].Token = 0
			}
		}},
		{Name: "overtaken for good", Opts: Claims{Fair: true}, Bad: lin.Order,
			Says: "while a waited with the older /lock/a-0000000000",
			Build: func(f *fixture) {
				f.Call("a", ops.Lock, "")
				f.Creates("a", 1, node("a", 0), "", 1)
				f.lock("b", 2, node("b", 1))
			}},
		{Name: "herd", Opts: Claims{MaxHerd: 1}, Bad: lin.Herd,
			Says:  "the release at step 5 fired 7 watch notifications",
			Build: herd},
	})
}

// herd: the unlock of a fires seven watch notifications.
func herd(f *fixture) {
	f.lock("a", 1, node("a", 0))
	op := f.Call("a", ops.Unlock, "")
	f.Deletes("a", 1, node("a", 0), 7)
	f.Ret(op, lin.OpOK, lin.Result{})
}

func TestLockLivenessAndOrphans(t *testing.T) {
	waiting := func(client, path string) []lin.Wait {
		return []lin.Wait{{Client: client, Op: ops.Lock, Path: path}}
	}
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "waiting behind a holder", Build: func(f *fixture) {
			token := f.lock("a", 1, node("a", 0))
			f.Call("b", ops.Lock, "")
			own := f.Creates("b", 2, node("b", 1), "", 2)
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/lock"},
				{
					Path: node("a", 0), Owner: 1, Czxid: token,
				}, {Path: node("b", 1), Owner: 2, Czxid: own}},
				Waiting: waiting("b", node("a", 0))}
		}},
		{Name: "self-deadlock", Bad: lin.Liveness,
			Says: "client b waits for /lock/b-0000000000, which belongs to b's own session 0x2 " +
				"and was left by b's lock (first attempt, create at step 2): b does not know of it",
			Build: func(f *fixture) {
				f.Call("b", ops.Lock, "")
				first := f.Creates("b", 2, node("b", 0), "", 2)
				second := f.Creates("b", 2, node("b", 1), "", 2)
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: node("b", 0), Owner: 2, Czxid: first,
					OwnerClient: "b"}, {
					Path: node("b", 1), Owner: 2, Czxid: second, OwnerClient: "b",
				}},
					Waiting: waiting("b", node("b", 0))}
			}},
		{Name: "behind a forgotten znode", Bad: lin.Liveness,
			Says: "and was left by a's lock (steps 1 to 3, unknown: connection closed): a does " +
				"not know of it, and nobody will delete it", Build: forgotten},
		{Name: "forgotten znode", Bad: lin.Orphans,
			Says: "/lock/a-0000000000 (session 0x1) was left by a's lock", Build: forgotten},
		{Name: "forgotten znode is allowed",
			Opts: Claims{AllowedAtRest: []string{"/lock/a-*", "/lock/deep/a-*"}},
			Build: func(f *fixture) {
				forgotten(f)
				f.H.Ops, f.Left.Waiting, f.Left.Nodes = f.H.Ops[:1], nil, f.Left.Nodes[:1]
			}},
		{Name: "behind a client that waits behind a forgotten znode", Bad: lin.Liveness,
			Says: "client b waits for /lock/a-0000000000, which belongs to a's session 0x1 and " +
				"was left",
			Build: func(f *fixture) {
				f.Call("c", ops.Lock, "")
				third := f.Creates("c", 3, node("c", 2), "", 3)
				forgotten(f)
				f.Left.Nodes = append(f.Left.Nodes,
					lin.NodeAtRest{Path: node("c", 2), Owner: 3, Czxid: third})
				f.Left.Waiting = append(f.Left.Waiting, waiting("c", node("b", 1))...)
			}},
		{Name: "a lost delete of a forgotten znode", Bad: lin.Orphans,
			Says: "was left by a's lock (steps 1 to 3, unknown: connection closed); a delete of " +
				"it was lost at step 4",
			Build: func(f *fixture) {
				forgotten(f)
				f.Left.Nodes[0].LostDelete = 4
			}},
		{Name: "polling a forgotten znode", Bad: lin.Liveness,
			Says: "client b polls /lock/a-0000000000, 9 times so far, which belongs to a's " +
				"session 0x1",
			Build: func(f *fixture) {
				forgotten(f)
				f.Left.Waiting[0].Polls = 9
			}},
		{Name: "polling behind a holder", Build: func(f *fixture) {
			token := f.lock("a", 1, node("a", 0))
			f.Call("b", ops.Lock, "")
			f.Left = &lin.Leftovers{
				Nodes: []lin.NodeAtRest{{Path: node("a", 0), Owner: 1, Czxid: token}},
				Waiting: []lin.Wait{
					{Client: "b", Op: ops.Lock, Path: node("a", 0), Polls: 9},
				}}
		}},
		{Name: "polling a znode that is gone", Bad: lin.Liveness,
			Says: "client b polls /lock/a-0000000000, 9 times so far; it does not exist, and b's " +
				"lock (step 1, pending) never returned",
			Build: func(f *fixture) {
				f.Call("b", ops.Lock, "")
				f.Left = &lin.Leftovers{Waiting: []lin.Wait{
					{Client: "b", Op: ops.Lock, Path: node("a", 0), Polls: 9},
				}}
			}},
		{Name: "missed wake-up", Bad: lin.Liveness, Says: "which does not exist: it missed the delete",
			Build: func(f *fixture) {
				f.Call("b", ops.Lock, "")
				own := f.Creates("b", 2, node("b", 1), "", 2)
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: node("b", 1), Owner: 2, Czxid: own}},
					Waiting: waiting("b", node("a", 0))}
			}},
		{Name: "dead session's znode", Bad: lin.Liveness,
			Says: "that session has ended, but the znode is still there",
			Build: func(f *fixture) {
				forgotten(f)
				f.Expires(1)
			}},
		{Name: "unlock hangs", Bad: lin.Liveness, Says: "a's unlock (step 4, pending) never returned",
			Build: func(f *fixture) {
				f.lock("a", 1, node("a", 0))
				f.Call("a", ops.Unlock, "")
				f.Left = &lin.Leftovers{}
			}},
		{Name: "wedged in one more attempt", Bad: lin.Liveness, Says: "wedged: a's lock has failed",
			Build: func(f *fixture) {
				f.Call("a", ops.Lock, "")
				f.Left = &lin.Leftovers{Waiting: []lin.Wait{{Client: "a", Op: ops.Lock}},
					Wedged: []string{"a's lock has failed 99 times"}}
			}},
		{Name: "wedged", Bad: lin.Liveness, Says: "wedged: a in Close",
			Build: func(f *fixture) { f.Left = &lin.Leftovers{Wedged: []string{"a in Close"}} }},
		{Name: "leaks", Bad: lin.Orphans,
			Says: "session 0x9 is alive and nobody's (and 2 more: a watch of a on /lock/x, " +
				"though a waits for nothing; a goroutine: loop)", Build: func(f *fixture) {
				f.Left = &lin.Leftovers{Sessions: []lin.SessionAtRest{{ID: 9}, {ID: 1, Client: "a"}},
					Watches: []lin.WatchAtRest{{Client: "a", Path: "/lock/x"}}, Leaked: []string{"loop"}}
			}},
	})
}

// forgotten: a's create was applied but reported as unknown, and b waits for it.
func forgotten(f *fixture) {
	op := f.Call("a", ops.Lock, "")
	left := f.Creates("a", 1, node("a", 0), "", 1)
	f.Ret(op, lin.OpUnknown, lin.Result{})
	f.Call("b", ops.Lock, "")
	own := f.Creates("b", 2, node("b", 1), "", 2)
	f.Left = &lin.Leftovers{
		Nodes: []lin.NodeAtRest{{Path: node("a", 0), Owner: 1, Czxid: left},
			{Path: node("b", 1), Owner: 2, Czxid: own}},
		Waiting: []lin.Wait{{Client: "b", Op: ops.Lock, Path: node("a", 0)}},
	}
}

// TestOtherKindsAreJudgedAsLocks: they share the judge of a lock, and add to it.
func TestOtherKindsAreJudgedAsLocks(t *testing.T) {
	claims := Claims{Path: "/lock", MaxHerd: 1}
	for name, kind := range map[string]lin.Claims{
		"reentrant": Reentrant(claims), "revocable": Revocable{Claims: claims},
	} {
		t.Run(name, func(t *testing.T) {
			judgingtest.CheckHistories(t, judgingtest.Always(kind), []claimTest{
				{Name: "two at once", Bad: lin.Safety, Build: twoAtOnce},
				{Name: "two at once, believed", Bad: lin.Belief, Build: twoAtOnce},
				{Name: "two at once, not linearizable", Bad: lin.Linearizability, Build: twoAtOnce},
				{Name: "another token", Bad: lin.Fencing, Build: func(f *fixture) {
					token := f.lock("a", 1, node("a", 0))
					f.Ret(f.Call("a", ops.Use, ""), lin.OpOK, lin.Result{Token: token + 1})
				}},
				{Name: "behind a forgotten znode", Bad: lin.Liveness, Build: forgotten},
				{Name: "forgotten znode", Bad: lin.Orphans, Build: forgotten},
				{Name: "herd", Bad: lin.Herd, Build: herd},
			})
		})
	}
}

func TestPendingCallIsUnknownWithoutLeftovers(t *testing.T) {
	f := &fixture{}
	f.Call("a", ops.Lock, "")
	r := judgingtest.Judge(f.History(), nil, Claims{})
	if v, _ := r.Verdict(lin.Liveness); v.Status != lin.Unknown || r.Status() != lin.Unknown ||
		r.First().Property != lin.Liveness {
		t.Errorf("got\n%s", r)
	}
}

func TestZombieWindowIsMeasured(t *testing.T) {
	f := &fixture{}
	f.lock("a", 1, node("a", 0))    // steps 1 to 3
	f.Expires(1, node("a", 0))      // step 4
	f.lock("b", 2, node("b", 1))    // steps 5 to 7
	f.Told("a", lin.SessionExpired) // step 8
	f.unlock("b", 2, node("b", 1))  // steps 9 to 11
	r := judgingtest.Judge(f.History(), nil, Claims{Path: "/lock"})
	want := lin.ZombieWindow{Client: "a", Session: 1, Path: node("a", 0), From: 4, To: 8, Duration: 4e6}
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
		f.Ret(f.Call("a", ops.Use, ""), lin.OpOK, lin.Result{Token: token, Session: 1})
	}
	judgingtest.CheckHistories(t, judgingtest.Always(Claims{Path: "/lock"}), []claimTest{
		{Name: "the same", Build: func(f *fixture) {
			uses(f, f.lock("a", 1, node("a", 0)))
			f.unlock("a", 1, node("a", 0))
		}},
		{Name: "another", Bad: lin.Fencing, Says: "but reads token 3 at step", Build: func(f *fixture) {
			uses(f, f.lock("a", 1, node("a", 0))+1)
			f.unlock("a", 1, node("a", 0))
		}},
		{Name: "after the unlock", Build: func(f *fixture) {
			token := f.lock("a", 1, node("a", 0))
			f.unlock("a", 1, node("a", 0))
			uses(f, token+1)
		}},
		{Name: "after the end of the session", Build: func(f *fixture) {
			token := f.lock("a", 1, node("a", 0))
			f.Expires(1, node("a", 0))
			uses(f, token+1)
		}},
	})
}

// node returns the path of the n-th lock znode of a client.
func node(client string, n int) string { return fmt.Sprintf("/lock/%s-%010d", client, n) }

// lock records a complete lock; it returns the token.
func (f *fixture) lock(client string, session int64, path string) int64 {
	op := f.Call(client, ops.Lock, "")
	token := f.Creates(client, session, path, "", session)
	f.Ret(op, lin.OpOK, lin.Result{Token: token, Session: session})
	return token
}

// unlock records a complete unlock.
func (f *fixture) unlock(client string, session int64, path string) {
	op := f.Call(client, ops.Unlock, "")
	f.Deletes(client, session, path, 1)
	f.Ret(op, lin.OpOK, lin.Result{Session: session})
}
