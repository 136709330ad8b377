package linearizability

import (
	"testing"

	"pgregory.net/rapid"
)

// grants is a whole, undisturbed acquire of some kind of lock; it returns the
// token.
func (f *film) grants(kind lockKind, client string, session int64, path, input string) int64 {
	op := f.call(client, kind.acquire, input)
	token := f.creates(client, session, path, "", session)
	f.ret(op, OpOK, Result{Token: token, Session: session})
	return token
}

// gives is a whole, undisturbed release.
func (f *film) gives(kind lockKind, client string, session int64, path, input string) {
	op := f.call(client, kind.release, input)
	f.deletes(client, session, path, 1)
	f.ret(op, OpOK, Result{Session: session})
}

func TestRWLocks(t *testing.T) {
	a, b, c := node("a", 0), node("b", 1), node("c", 2)
	get := func(f *film, client string, session int64, mode string) {
		f.grants(readWriteLock, client, session, node(client, int(client[0]-'a')), mode)
	}
	give := func(f *film, client string, session int64, mode string) {
		f.gives(readWriteLock, client, session, node(client, int(client[0]-'a')), mode)
	}
	tests := []struct {
		name      string
		shoot     func(f *film) *Rest
		opts      LockOptions
		bad, says string
	}{
		{name: "two readers", shoot: func(f *film) *Rest {
			get(f, "a", 1, ModeRead)
			get(f, "b", 2, ModeRead)
			give(f, "a", 1, ModeRead)
			give(f, "b", 2, ModeRead)
			get(f, "c", 3, ModeWrite)
			give(f, "c", 3, ModeWrite)
			return &Rest{}
		}},
		{name: "reader and writer", bad: Safety, says: "a and b own the lock at once", shoot: readerAndWriter},
		{name: "reader and writer, believed", bad: Belief, says: "a and b both believe that they hold the lock", shoot: readerAndWriter},
		{name: "reader and writer, not linearizable", bad: Linearizability, says: "it goes wrong with b: lock(write) -> token 5", shoot: readerAndWriter},
		{name: "two writers", bad: Safety, says: "a and b own the lock at once", shoot: func(f *film) *Rest {
			get(f, "a", 1, ModeWrite)
			get(f, "b", 2, ModeWrite)
			return nil
		}},
		{name: "the writer reads on", shoot: func(f *film) *Rest {
			get(f, "a", 1, ModeWrite)
			f.grants(readWriteLock, "a", 1, node("a", 7), ModeRead)
			give(f, "a", 1, ModeWrite)
			get(f, "b", 2, ModeRead)
			give(f, "b", 2, ModeRead)
			f.gives(readWriteLock, "a", 1, node("a", 7), ModeRead)
			return &Rest{}
		}},
		{name: "a reader's token from before the writer", bad: Fencing, says: "b was granted the lock at step 7 with token 2", shoot: func(f *film) *Rest {
			opB := f.call("b", KindLock, ModeRead)
			token := f.creates("b", 2, b, "", 2)
			get(f, "a", 1, ModeWrite)
			f.h.Server[1].Kind, f.h.Server = NodeCreated, append(f.h.Server, ServerEvent{Step: 6, Kind: NodeDeleted, Path: a, Session: 1, Client: "a"})
			f.step = 6
			f.ret(opB, OpOK, Result{Token: token, Session: 2})
			return nil
		}},
		{name: "a reader overtakes a reader", opts: LockOptions{Fair: true}, shoot: func(f *film) *Rest { return overtakes(f, ModeRead) }},
		{name: "a reader overtakes a writer", opts: LockOptions{Fair: true}, bad: Order, says: "b overtook a", shoot: func(f *film) *Rest { return overtakes(f, ModeWrite) }},
		{name: "a reader waits behind a writer", shoot: func(f *film) *Rest { return waitsBehind(f, b, c) }},
		{name: "a reader waits for a reader", bad: Liveness, says: "client c waits for /lock/a-0000000000", shoot: func(f *film) *Rest {
			get(f, "a", 1, ModeRead)
			f.call("c", KindLock, ModeRead)
			token := f.creates("c", 3, c, "", 3)
			return &Rest{Nodes: []NodeAtRest{{Path: a, Owner: 1, Czxid: 2}, {Path: c, Owner: 3, Czxid: token}}, Waiting: []Wait{{Client: "c", Op: KindLock, Path: a}}}
		}},
		{name: "a znode is left", bad: Orphans, says: "/lock/a-0000000000", shoot: func(f *film) *Rest {
			op := f.call("a", KindLock, ModeRead)
			token := f.creates("a", 1, a, "", 1)
			f.ret(op, OpUnknown, Result{})
			return &Rest{Nodes: []NodeAtRest{{Path: a, Owner: 1, Czxid: token}}}
		}},
		{name: "a herd", opts: LockOptions{MaxHerd: 1}, bad: Herd, says: "fired 3 watch notifications", shoot: func(f *film) *Rest {
			get(f, "a", 1, ModeWrite)
			op := f.call("a", KindUnlock, ModeWrite)
			f.deletes("a", 1, a, 3)
			f.ret(op, OpOK, Result{})
			return nil
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &film{}
			rest := tt.shoot(f)
			tt.opts.Path = "/lock"
			checkReport(t, JudgeRWLock(f.history(), rest, tt.opts), tt.bad, tt.says)
		})
	}
}

func readerAndWriter(f *film) *Rest {
	f.grants(readWriteLock, "a", 1, node("a", 0), ModeRead)
	f.grants(readWriteLock, "b", 2, node("b", 1), ModeWrite)
	return nil
}

// overtakes: b reads while a waits with an older znode.
func overtakes(f *film, mode string) *Rest {
	op := f.call("a", KindLock, mode)
	token := f.creates("a", 1, node("a", 0), "", 1)
	f.grants(readWriteLock, "b", 2, node("b", 1), ModeRead)
	f.gives(readWriteLock, "b", 2, node("b", 1), ModeRead)
	f.ret(op, OpOK, Result{Session: 1, Token: token})
	return nil
}

// waitsBehind: a reads for ever, b wants to write, and c to read after that.
func waitsBehind(f *film, b, c string) *Rest {
	held := f.grants(readWriteLock, "a", 1, node("a", 0), ModeRead)
	f.call("b", KindLock, ModeWrite)
	writer := f.creates("b", 2, b, "", 2)
	f.call("c", KindLock, ModeRead)
	reader := f.creates("c", 3, c, "", 3)
	return &Rest{
		Nodes:   []NodeAtRest{{Path: node("a", 0), Owner: 1, Czxid: held}, {Path: b, Owner: 2, Czxid: writer}, {Path: c, Owner: 3, Czxid: reader}},
		Waiting: []Wait{{Client: "b", Op: KindLock, Path: node("a", 0)}, {Client: "c", Op: KindLock, Path: b}},
	}
}

func randomRWLock(t *rapid.T) History {
	return randomHolds(t, readWriteLock, ModeRead, ModeRead, ModeWrite)
}

func judgeFairRWLock(h History) Report { return JudgeRWLock(h, &Rest{}, fairLock) }

func TestCorrectRWLocksAreFoundCorrect(t *testing.T) {
	checkValid(t, randomRWLock, judgeFairRWLock)
}

func TestBrokenRWLocksAreFoundBroken(t *testing.T) {
	checkMutations(t, randomRWLock, judgeFairRWLock, []mutation{
		{"a second holder", onHold(readWriteLock, addHolder), []string{Safety, Linearizability, Fencing}, 0},
		{"tokens exchanged", onHold(readWriteLock, swapTokens), []string{Safety, Fencing}, 60},
		{"a release that never happened", onHold(readWriteLock, dropDelete), []string{Safety, Linearizability}, 0},
		{"a lock that never returns", onHold(readWriteLock, neverReturn), []string{Liveness}, 0},
		{"a writer overtaken", onHold(readWriteLock, overtake), []string{Order}, 0},
	})
}
