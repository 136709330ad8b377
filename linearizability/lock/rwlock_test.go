package lock

import (
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// grants records a complete acquire of some kind of lock; it returns the token.
func (f *fixture) grants(kind kind, client string, session int64, path, input string) int64 {
	op := f.Call(client, kind.acquire, input)
	token := f.Creates(client, session, path, "", session)
	f.Ret(op, lin.OpOK, lin.Result{Token: token, Session: session})
	return token
}

// gives records a complete release.
func (f *fixture) gives(kind kind, client string, session int64, path, input string) {
	op := f.Call(client, kind.release, input)
	f.Deletes(client, session, path, 1)
	f.Ret(op, lin.OpOK, lin.Result{Session: session})
}

func TestRWLocks(t *testing.T) {
	a, b, c := node("a", 0), node("b", 1), node("c", 2)
	get := func(f *fixture, client string, session int64, mode string) {
		f.grants(readWriteLock, client, session, node(client, int(client[0]-'a')), mode)
	}
	give := func(f *fixture, client string, session int64, mode string) {
		f.gives(readWriteLock, client, session, node(client, int(client[0]-'a')), mode)
	}
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path = "/lock"
		return ReadWrite(opts)
	}, []lockTest{
		{Name: "two readers", Build: func(f *fixture) {
			get(f, "a", 1, ops.ReadMode)
			get(f, "b", 2, ops.ReadMode)
			give(f, "a", 1, ops.ReadMode)
			give(f, "b", 2, ops.ReadMode)
			get(f, "c", 3, ops.WriteMode)
			give(f, "c", 3, ops.WriteMode)
			f.Left = &lin.Leftovers{}
		}},
		{Name: "reader and writer", Bad: lin.Safety, Says: "a and b own the lock at once",
			Build: readerAndWriter},
		{Name: "reader and writer, believed", Bad: lin.Belief,
			Says: "a and b both believe that they hold the lock", Build: readerAndWriter},
		{Name: "reader and writer, not linearizable", Bad: lin.Linearizability,
			Says: "it goes wrong with b: lock(write) -> token 5", Build: readerAndWriter},
		{Name: "two writers", Bad: lin.Safety, Says: "a and b own the lock at once",
			Build: func(f *fixture) {
				get(f, "a", 1, ops.WriteMode)
				get(f, "b", 2, ops.WriteMode)
			}},
		{Name: "the writer reads on", Build: func(f *fixture) {
			get(f, "a", 1, ops.WriteMode)
			f.grants(readWriteLock, "a", 1, node("a", 7), ops.ReadMode)
			give(f, "a", 1, ops.WriteMode)
			get(f, "b", 2, ops.ReadMode)
			give(f, "b", 2, ops.ReadMode)
			f.gives(readWriteLock, "a", 1, node("a", 7), ops.ReadMode)
			f.Left = &lin.Leftovers{}
		}},
		{Name: "a reader's token from before the writer", Bad: lin.Fencing,
			Says: "b was granted the lock at step 7 with token 2",
			Build: func(f *fixture) {
				opB := f.Call("b", ops.Lock, ops.ReadMode)
				token := f.Creates("b", 2, b, "", 2)
				get(f, "a", 1, ops.WriteMode)
				f.H.Server[1].Kind, f.H.Server = lin.NodeCreated, append(f.H.Server,
					lin.ServerEvent{Step: 6, Kind: lin.NodeDeleted, Path: a, Session: 1, Client: "a"})
				f.Step = 6
				f.Ret(opB, lin.OpOK, lin.Result{Token: token, Session: 2})
			}},
		{Name: "a reader overtakes a reader", Opts: Claims{Fair: true},
			Build: func(f *fixture) { overtakes(f, ops.ReadMode) }},
		{Name: "a reader overtakes a writer", Opts: Claims{Fair: true}, Bad: lin.Order,
			Says:  "b overtook a",
			Build: func(f *fixture) { overtakes(f, ops.WriteMode) }},
		{Name: "a reader waits behind a writer", Build: func(f *fixture) { waitsBehind(f, b, c) }},
		{Name: "a reader waits for a reader", Bad: lin.Liveness,
			Says: "client c waits for /lock/a-0000000000", Build: func(f *fixture) {
				get(f, "a", 1, ops.ReadMode)
				f.Call("c", ops.Lock, ops.ReadMode)
				token := f.Creates("c", 3, c, "", 3)
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: a, Owner: 1, Czxid: 2},
					{Path: c, Owner: 3, Czxid: token}},
					Waiting: []lin.Wait{{Client: "c", Op: ops.Lock, Path: a}}}
			}},
		{Name: "a znode is left", Bad: lin.Orphans, Says: "/lock/a-0000000000",
			Build: func(f *fixture) {
				op := f.Call("a", ops.Lock, ops.ReadMode)
				token := f.Creates("a", 1, a, "", 1)
				f.Ret(op, lin.OpUnknown, lin.Result{})
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: a, Owner: 1, Czxid: token}}}
			}},
		{Name: "a herd", Opts: Claims{MaxHerd: 1}, Bad: lin.Herd, Says: "fired 3 watch notifications",
			Build: func(f *fixture) {
				get(f, "a", 1, ops.WriteMode)
				op := f.Call("a", ops.Unlock, ops.WriteMode)
				f.Deletes("a", 1, a, 3)
				f.Ret(op, lin.OpOK, lin.Result{})
			}},
	})
}

func readerAndWriter(f *fixture) {
	f.grants(readWriteLock, "a", 1, node("a", 0), ops.ReadMode)
	f.grants(readWriteLock, "b", 2, node("b", 1), ops.WriteMode)
}

// overtakes: b reads while a waits with an older znode.
func overtakes(f *fixture, mode string) {
	op := f.Call("a", ops.Lock, mode)
	token := f.Creates("a", 1, node("a", 0), "", 1)
	f.grants(readWriteLock, "b", 2, node("b", 1), ops.ReadMode)
	f.gives(readWriteLock, "b", 2, node("b", 1), ops.ReadMode)
	f.Ret(op, lin.OpOK, lin.Result{Session: 1, Token: token})
}

// waitsBehind: a reads for ever, b wants to write, and c to read after that.
func waitsBehind(f *fixture, b, c string) {
	held := f.grants(readWriteLock, "a", 1, node("a", 0), ops.ReadMode)
	f.Call("b", ops.Lock, ops.WriteMode)
	writer := f.Creates("b", 2, b, "", 2)
	f.Call("c", ops.Lock, ops.ReadMode)
	reader := f.Creates("c", 3, c, "", 3)
	f.Left = &lin.Leftovers{
		Nodes: []lin.NodeAtRest{{Path: node("a", 0), Owner: 1, Czxid: held},
			{Path: b, Owner: 2, Czxid: writer}, {Path: c, Owner: 3, Czxid: reader}},
		Waiting: []lin.Wait{{Client: "b", Op: ops.Lock, Path: node("a", 0)},
			{Client: "c", Op: ops.Lock, Path: b}},
	}
}

func randomRWLock(t *rapid.T) lin.History {
	return randomHolds(t, readWriteLock, ops.ReadMode, ops.ReadMode, ops.WriteMode)
}

func judgeFairRWLock(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, ReadWrite(fairLock))
}

func TestCorrectRWLocksAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomRWLock, judgeFairRWLock)
}

func TestBrokenRWLocksAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomRWLock, judgeFairRWLock, lockMutations(readWriteLock, 60))
}

// readsOn: the writer a takes the read lock, too, under the same token and with the znode second
// (none if ""), while b waits to write. It returns b's call and b's future token.
func readsOn(f *fixture, second string) (waiting int, next int64) {
	token := f.grants(readWriteLock, "a", 1, node("a", 0), ops.WriteMode)
	waiting = f.Call("b", ops.Lock, ops.WriteMode)
	next = f.Creates("b", 2, node("b", 1), "", 2)
	op := f.Call("a", ops.Lock, ops.ReadMode)
	if second != "" {
		f.Creates("a", 1, second, "", 1)
	}
	f.Ret(op, lin.OpOK, lin.Result{Token: token, Session: 1})
	f.gives(readWriteLock, "a", 1, node("a", 0), ops.WriteMode)
	return waiting, next
}

func TestWriterThatReadsOn(t *testing.T) {
	fair := Claims{Path: "/lock", Fair: true, MaxHerd: 1}
	judgingtest.CheckHistories(t, judgingtest.Always(ReadWrite(fair)), []claimTest{
		{Name: "before the writer who waits", Build: func(f *fixture) {
			op, token := readsOn(f, node("a", 2))
			f.gives(readWriteLock, "a", 1, node("a", 2), ops.ReadMode)
			f.Ret(op, lin.OpOK, lin.Result{Token: token, Session: 2})
		}},
		{Name: "without a znode", Bad: lin.Safety,
			Says: "a deleted its own znode /lock/a-0000000000",
			Build: func(f *fixture) {
				readsOn(f, "")
			}},
		{Name: "with the znode by which it wrote", Build: func(f *fixture) {
			token := f.grants(readWriteLock, "a", 1, node("a", 0), ops.WriteMode)
			f.Ret(f.Call("a", ops.Lock, ops.ReadMode), lin.OpOK, lin.Result{Token: token, Session: 1})
			f.Ret(f.Call("a", ops.Unlock, ops.WriteMode), lin.OpOK, lin.Result{})
			f.gives(readWriteLock, "a", 1, node("a", 0), ops.ReadMode)
		}},
		{Name: "and a writer is let in", Bad: lin.Safety, Says: "a and b own the lock at once",
			Build: func(f *fixture) {
				op, token := readsOn(f, node("a", 2))
				f.Ret(op, lin.OpOK, lin.Result{Token: token, Session: 2})
			}},
		{Name: "after its node was deleted", Bad: lin.Safety, Says: "c deleted a's znode",
			Build: func(f *fixture) {
				readsOn(f, node("a", 2))
				f.Deletes("c", 3, node("a", 2), 0)
			}},
		{Name: "with a znode of another session", Bad: lin.Safety,
			Says: "belongs to session 0x4, but the client is in session 0x1",
			Build: func(f *fixture) {
				token := f.grants(readWriteLock, "a", 1, node("a", 0), ops.WriteMode)
				op := f.Call("a", ops.Lock, ops.ReadMode)
				f.Creates("a", 4, node("a", 2), "", 4)
				f.Ret(op, lin.OpOK, lin.Result{Token: token, Session: 1})
			}},
		{Name: "given up by the first of two unlocks", Bad: lin.Safety, Says: "before its last unlock",
			Build: func(f *fixture) {
				token := f.grants(readWriteLock, "a", 1, node("a", 0), ops.ReadMode)
				f.Ret(f.Call("a", ops.Lock, ops.ReadMode), lin.OpOK, lin.Result{Token: token, Session: 1})
				f.gives(readWriteLock, "a", 1, node("a", 0), ops.ReadMode)
			}},
	})
}

// TestReadersWokenTogetherAreNoHerd: a waiter that is woken in vain counts.
func TestReadersWokenTogetherAreNoHerd(t *testing.T) {
	for _, tt := range []struct {
		name, second string
		bad          string
	}{
		{"two readers", ops.ReadMode, ""},
		{"a reader and a writer", ops.WriteMode, lin.Herd},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fixture{}
			f.grants(readWriteLock, "a", 1, node("a", 0), ops.WriteMode)
			b := f.Call("b", ops.Lock, ops.ReadMode)
			tokenB := f.Creates("b", 2, node("b", 1), "", 2)
			c := f.Call("c", ops.Lock, tt.second)
			tokenC := f.Creates("c", 3, node("c", 2), "", 3)
			op := f.Call("a", ops.Unlock, ops.WriteMode)
			f.Deletes("a", 1, node("a", 0), 2)
			f.Ret(op, lin.OpOK, lin.Result{Session: 1})
			f.Ret(b, lin.OpOK, lin.Result{Token: tokenB, Session: 2})
			f.gives(readWriteLock, "b", 2, node("b", 1), ops.ReadMode)
			f.Ret(c, lin.OpOK, lin.Result{Token: tokenC, Session: 3})
			judgingtest.CheckReport(t, judgingtest.Judge(f.History(), nil, ReadWrite{Path: "/lock", MaxHerd: 1}), tt.bad,
				"2 watch notifications")
		})
	}
}
