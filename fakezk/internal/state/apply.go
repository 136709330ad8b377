package state

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Apply makes the changes of t, which must be the Txn after [Store.LastZxid].
// The result depends on the store and on t alone. It panics if t does not fit
// the store: it was prepared against another history.
func (s *Store) Apply(t Txn) Result {
	if t.Zxid != s.last+1 {
		panic(fmt.Sprintf("state: apply of zxid %#x (%s) after %#x", t.Zxid, t.Op, s.last))
	}
	s.last = t.Zxid
	if t.Err != proto.OK {
		return refusal(t)
	}
	if t.Op == proto.OpMulti {
		return s.applyMulti(&t)
	}
	var r Result
	for _, c := range t.Changes {
		r.Reply = c.apply(s, &t, &r)
	}
	return r
}

func refusal(t Txn) Result {
	if t.OpErrs != nil {
		return Result{Reply: multiFailure(t.OpErrs)}
	}
	return Result{Err: t.Err}
}

func (r *Result) fire(event proto.EventType, path string, acl []proto.ACL) {
	r.Events = append(r.Events, Event{Type: event, Path: path, ACL: acl})
}

// mustFind is find for a node that Prepare has seen.
func (s *Store) mustFind(t *Txn, path string) *node {
	n, ok := s.find(path)
	if !ok {
		panic(fmt.Sprintf("state: zxid %#x (%s): no node %q", t.Zxid, t.Op, path))
	}
	return n
}
