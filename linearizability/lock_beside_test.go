package linearizability

import "testing"

// readsOn: the writer a takes the read lock, too, under the same token and
// through the znode at second (none if ""), while b waits to write. It returns b's
// call and its token to be.
func readsOn(f *film, second string) (waiting int, next int64) {
	token := f.grants(readWriteLock, "a", 1, node("a", 0), ModeWrite)
	waiting = f.call("b", KindLock, ModeWrite)
	next = f.creates("b", 2, node("b", 1), "", 2)
	op := f.call("a", KindLock, ModeRead)
	if second != "" {
		f.creates("a", 1, second, "", 1)
	}
	f.ret(op, OpOK, Result{Token: token, Session: 1})
	f.gives(readWriteLock, "a", 1, node("a", 0), ModeWrite)
	return waiting, next
}

func TestWritersWhoReadOn(t *testing.T) {
	fair := LockOptions{Path: "/lock", Fair: true, MaxHerd: 1}
	tests := []struct {
		name      string
		shoot     func(f *film) *Rest
		bad, says string
	}{
		{name: "before the writer who waits", shoot: func(f *film) *Rest {
			op, token := readsOn(f, node("a", 2))
			f.gives(readWriteLock, "a", 1, node("a", 2), ModeRead)
			f.ret(op, OpOK, Result{Token: token, Session: 2})
			return nil
		}},
		{name: "without a znode", bad: Safety, says: "a returned from lock at step 7 without a znode of its own", shoot: func(f *film) *Rest {
			readsOn(f, "")
			return nil
		}},
		{name: "and a writer is let in", bad: Safety, says: "a and b own the lock at once", shoot: func(f *film) *Rest {
			op, token := readsOn(f, node("a", 2))
			f.ret(op, OpOK, Result{Token: token, Session: 2})
			return nil
		}},
		{name: "after its node was deleted", bad: Safety, says: "c deleted a's znode", shoot: func(f *film) *Rest {
			readsOn(f, node("a", 2))
			f.deletes("c", 3, node("a", 2), 0)
			return nil
		}},
		{name: "with a znode of another session", bad: Safety, says: "belongs to session 0x4, but the client is in session 0x1", shoot: func(f *film) *Rest {
			token := f.grants(readWriteLock, "a", 1, node("a", 0), ModeWrite)
			op := f.call("a", KindLock, ModeRead)
			f.creates("a", 4, node("a", 2), "", 4)
			f.ret(op, OpOK, Result{Token: token, Session: 1})
			return nil
		}},
		{name: "given up by the first of two unlocks", bad: Safety, says: "before its last unlock", shoot: func(f *film) *Rest {
			token := f.grants(readWriteLock, "a", 1, node("a", 0), ModeRead)
			f.ret(f.call("a", KindLock, ModeRead), OpOK, Result{Token: token, Session: 1})
			f.gives(readWriteLock, "a", 1, node("a", 0), ModeRead)
			return nil
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &film{}
			rest := tt.shoot(f)
			checkReport(t, JudgeRWLock(f.history(), rest, fair), tt.bad, tt.says)
		})
	}
}

// TestReadersWokenTogetherAreNoHerd, but who is woken for nothing is.
func TestReadersWokenTogetherAreNoHerd(t *testing.T) {
	for _, tt := range []struct {
		name, second string
		bad          string
	}{
		{"two readers", ModeRead, ""},
		{"a reader and a writer", ModeWrite, Herd},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &film{}
			f.grants(readWriteLock, "a", 1, node("a", 0), ModeWrite)
			b := f.call("b", KindLock, ModeRead)
			tokenB := f.creates("b", 2, node("b", 1), "", 2)
			c := f.call("c", KindLock, tt.second)
			tokenC := f.creates("c", 3, node("c", 2), "", 3)
			op := f.call("a", KindUnlock, ModeWrite)
			f.deletes("a", 1, node("a", 0), 2)
			f.ret(op, OpOK, Result{Session: 1})
			f.ret(b, OpOK, Result{Token: tokenB, Session: 2})
			f.gives(readWriteLock, "b", 2, node("b", 1), ModeRead)
			f.ret(c, OpOK, Result{Token: tokenC, Session: 3})
			checkReport(t, JudgeRWLock(f.history(), nil, LockOptions{Path: "/lock", MaxHerd: 1}), tt.bad, "2 watch notifications")
		})
	}
}
