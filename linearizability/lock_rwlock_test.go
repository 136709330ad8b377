package linearizability

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

// grants records a complete acquire of some kind of lock; it returns the token.
func (f *fixture) grants(kind lockKind, client string, session int64, path, input string) int64 {
	op := f.call(client, kind.acquire, input)
	token := f.creates(client, session, path, "", session)
	f.ret(op, OpOK, Result{Token: token, Session: session})
	return token
}

// gives records a complete release.
func (f *fixture) gives(kind lockKind, client string, session int64, path, input string) {
	op := f.call(client, kind.release, input)
	f.deletes(client, session, path, 1)
	f.ret(op, OpOK, Result{Session: session})
}

func TestRWLocks(t *testing.T) {
	a, b, c := node("a", 0), node("b", 1), node("c", 2)
	get := func(f *fixture, client string, session int64, mode string) {
		f.grants(readWriteLock, client, session, node(client, int(client[0]-'a')), mode)
	}
	give := func(f *fixture, client string, session int64, mode string) {
		f.gives(readWriteLock, client, session, node(client, int(client[0]-'a')), mode)
	}
	checkHistories(t, func(opts Lock) Claims {
		opts.Path = "/lock"
		return RWLock(opts)
	}, []lockTest{
		{name: "two readers", build: func(f *fixture) {
			get(f, "a", 1, ops.ReadMode)
			get(f, "b", 2, ops.ReadMode)
			give(f, "a", 1, ops.ReadMode)
			give(f, "b", 2, ops.ReadMode)
			get(f, "c", 3, ops.WriteMode)
			give(f, "c", 3, ops.WriteMode)
			f.left = &Leftovers{}
		}},
		{name: "reader and writer", bad: Safety, says: "a and b own the lock at once",
			build: readerAndWriter},
		{name: "reader and writer, believed", bad: Belief,
			says: "a and b both believe that they hold the lock", build: readerAndWriter},
		{name: "reader and writer, not linearizable", bad: Linearizability,
			says: "it goes wrong with b: lock(write) -> token 5", build: readerAndWriter},
		{name: "two writers", bad: Safety, says: "a and b own the lock at once",
			build: func(f *fixture) {
				get(f, "a", 1, ops.WriteMode)
				get(f, "b", 2, ops.WriteMode)
			}},
		{name: "the writer reads on", build: func(f *fixture) {
			get(f, "a", 1, ops.WriteMode)
			f.grants(readWriteLock, "a", 1, node("a", 7), ops.ReadMode)
			give(f, "a", 1, ops.WriteMode)
			get(f, "b", 2, ops.ReadMode)
			give(f, "b", 2, ops.ReadMode)
			f.gives(readWriteLock, "a", 1, node("a", 7), ops.ReadMode)
			f.left = &Leftovers{}
		}},
		{name: "a reader's token from before the writer", bad: Fencing,
			says: "b was granted the lock at step 7 with token 2",
			build: func(f *fixture) {
				opB := f.call("b", ops.Lock, ops.ReadMode)
				token := f.creates("b", 2, b, "", 2)
				get(f, "a", 1, ops.WriteMode)
				f.h.Server[1].Kind, f.h.Server = NodeCreated, append(f.h.Server,
					ServerEvent{Step: 6, Kind: NodeDeleted, Path: a, Session: 1, Client: "a"})
				f.step = 6
				f.ret(opB, OpOK, Result{Token: token, Session: 2})
			}},
		{name: "a reader overtakes a reader", opts: Lock{Fair: true},
			build: func(f *fixture) { overtakes(f, ops.ReadMode) }},
		{name: "a reader overtakes a writer", opts: Lock{Fair: true}, bad: Order,
			says:  "b overtook a",
			build: func(f *fixture) { overtakes(f, ops.WriteMode) }},
		{name: "a reader waits behind a writer", build: func(f *fixture) { waitsBehind(f, b, c) }},
		{name: "a reader waits for a reader", bad: Liveness,
			says: "client c waits for /lock/a-0000000000", build: func(f *fixture) {
				get(f, "a", 1, ops.ReadMode)
				f.call("c", ops.Lock, ops.ReadMode)
				token := f.creates("c", 3, c, "", 3)
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: a, Owner: 1, Czxid: 2},
					{Path: c, Owner: 3, Czxid: token}},
					Waiting: []Wait{{Client: "c", Op: ops.Lock, Path: a}}}
			}},
		{name: "a znode is left", bad: Orphans, says: "/lock/a-0000000000",
			build: func(f *fixture) {
				op := f.call("a", ops.Lock, ops.ReadMode)
				token := f.creates("a", 1, a, "", 1)
				f.ret(op, OpUnknown, Result{})
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: a, Owner: 1, Czxid: token}}}
			}},
		{name: "a herd", opts: Lock{MaxHerd: 1}, bad: Herd, says: "fired 3 watch notifications",
			build: func(f *fixture) {
				get(f, "a", 1, ops.WriteMode)
				op := f.call("a", ops.Unlock, ops.WriteMode)
				f.deletes("a", 1, a, 3)
				f.ret(op, OpOK, Result{})
			}},
	})
}

func readerAndWriter(f *fixture) {
	f.grants(readWriteLock, "a", 1, node("a", 0), ops.ReadMode)
	f.grants(readWriteLock, "b", 2, node("b", 1), ops.WriteMode)
}

// overtakes: b reads while a waits with an older znode.
func overtakes(f *fixture, mode string) {
	op := f.call("a", ops.Lock, mode)
	token := f.creates("a", 1, node("a", 0), "", 1)
	f.grants(readWriteLock, "b", 2, node("b", 1), ops.ReadMode)
	f.gives(readWriteLock, "b", 2, node("b", 1), ops.ReadMode)
	f.ret(op, OpOK, Result{Session: 1, Token: token})
}

// waitsBehind: a reads for ever, b wants to write, and c to read after that.
func waitsBehind(f *fixture, b, c string) {
	held := f.grants(readWriteLock, "a", 1, node("a", 0), ops.ReadMode)
	f.call("b", ops.Lock, ops.WriteMode)
	writer := f.creates("b", 2, b, "", 2)
	f.call("c", ops.Lock, ops.ReadMode)
	reader := f.creates("c", 3, c, "", 3)
	f.left = &Leftovers{
		Nodes: []NodeAtRest{{Path: node("a", 0), Owner: 1, Czxid: held},
			{Path: b, Owner: 2, Czxid: writer}, {Path: c, Owner: 3, Czxid: reader}},
		Waiting: []Wait{{Client: "b", Op: ops.Lock, Path: node("a", 0)},
			{Client: "c", Op: ops.Lock, Path: b}},
	}
}

func randomRWLock(t *rapid.T) History {
	return randomHolds(t, readWriteLock, ops.ReadMode, ops.ReadMode, ops.WriteMode)
}

func judgeFairRWLock(h History) Report { return Judge(h, &Leftovers{}, RWLock(fairLock)) }

func TestCorrectRWLocksAreFoundCorrect(t *testing.T) {
	checkValid(t, randomRWLock, judgeFairRWLock)
}

func TestBrokenRWLocksAreFoundBroken(t *testing.T) {
	checkMutations(t, randomRWLock, judgeFairRWLock, lockMutations(readWriteLock, 60))
}

// readsOn: the writer a takes the read lock, too, under the same token and with the znode second
// (none if ""), while b waits to write. It returns b's call and b's future token.
func readsOn(f *fixture, second string) (waiting int, next int64) {
	token := f.grants(readWriteLock, "a", 1, node("a", 0), ops.WriteMode)
	waiting = f.call("b", ops.Lock, ops.WriteMode)
	next = f.creates("b", 2, node("b", 1), "", 2)
	op := f.call("a", ops.Lock, ops.ReadMode)
	if second != "" {
		f.creates("a", 1, second, "", 1)
	}
	f.ret(op, OpOK, Result{Token: token, Session: 1})
	f.gives(readWriteLock, "a", 1, node("a", 0), ops.WriteMode)
	return waiting, next
}

func TestWriterThatReadsOn(t *testing.T) {
	fair := Lock{Path: "/lock", Fair: true, MaxHerd: 1}
	checkHistories(t, always(RWLock(fair)), []claimTest{
		{name: "before the writer who waits", build: func(f *fixture) {
			op, token := readsOn(f, node("a", 2))
			f.gives(readWriteLock, "a", 1, node("a", 2), ops.ReadMode)
			f.ret(op, OpOK, Result{Token: token, Session: 2})
		}},
		{name: "without a znode", bad: Safety,
			says: "a deleted its own znode /lock/a-0000000000",
			build: func(f *fixture) {
				readsOn(f, "")
			}},
		{name: "with the znode by which it wrote", build: func(f *fixture) {
			token := f.grants(readWriteLock, "a", 1, node("a", 0), ops.WriteMode)
			f.ret(f.call("a", ops.Lock, ops.ReadMode), OpOK, Result{Token: token, Session: 1})
			f.ret(f.call("a", ops.Unlock, ops.WriteMode), OpOK, Result{})
			f.gives(readWriteLock, "a", 1, node("a", 0), ops.ReadMode)
		}},
		{name: "and a writer is let in", bad: Safety, says: "a and b own the lock at once",
			build: func(f *fixture) {
				op, token := readsOn(f, node("a", 2))
				f.ret(op, OpOK, Result{Token: token, Session: 2})
			}},
		{name: "after its node was deleted", bad: Safety, says: "c deleted a's znode",
			build: func(f *fixture) {
				readsOn(f, node("a", 2))
				f.deletes("c", 3, node("a", 2), 0)
			}},
		{name: "with a znode of another session", bad: Safety,
			says: "belongs to session 0x4, but the client is in session 0x1",
			build: func(f *fixture) {
				token := f.grants(readWriteLock, "a", 1, node("a", 0), ops.WriteMode)
				op := f.call("a", ops.Lock, ops.ReadMode)
				f.creates("a", 4, node("a", 2), "", 4)
				f.ret(op, OpOK, Result{Token: token, Session: 1})
			}},
		{name: "given up by the first of two unlocks", bad: Safety, says: "before its last unlock",
			build: func(f *fixture) {
				token := f.grants(readWriteLock, "a", 1, node("a", 0), ops.ReadMode)
				f.ret(f.call("a", ops.Lock, ops.ReadMode), OpOK, Result{Token: token, Session: 1})
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
		{"a reader and a writer", ops.WriteMode, Herd},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fixture{}
			f.grants(readWriteLock, "a", 1, node("a", 0), ops.WriteMode)
			b := f.call("b", ops.Lock, ops.ReadMode)
			tokenB := f.creates("b", 2, node("b", 1), "", 2)
			c := f.call("c", ops.Lock, tt.second)
			tokenC := f.creates("c", 3, node("c", 2), "", 3)
			op := f.call("a", ops.Unlock, ops.WriteMode)
			f.deletes("a", 1, node("a", 0), 2)
			f.ret(op, OpOK, Result{Session: 1})
			f.ret(b, OpOK, Result{Token: tokenB, Session: 2})
			f.gives(readWriteLock, "b", 2, node("b", 1), ops.ReadMode)
			f.ret(c, OpOK, Result{Token: tokenC, Session: 3})
			checkReport(t, Judge(f.history(), nil, RWLock{Path: "/lock", MaxHerd: 1}), tt.bad,
				"2 watch notifications")
		})
	}
}
