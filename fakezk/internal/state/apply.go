package state

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Apply makes the changes of t. The result depends on the store and on t alone.
// It panics if the zxid of t was applied already or if t does not fit the store, which
// means that it was prepared against another history.
func (s *Store) Apply(t Txn) Result {
	if t.Zxid <= s.drawn {
		panic(fmt.Sprintf("state: apply of zxid %#x (%s) after %#x", t.Zxid, t.Op, s.drawn))
	}
	s.drawn = t.Zxid
	if t.Skipped {
		return Result{Err: t.Err, Reply: proto.MultiReply{}}
	}
	s.last = t.Zxid
	defer s.tree.digest.keep(t.Zxid)
	if t.Err != proto.OK {
		return refusal(t)
	}
	if t.Op == proto.OpMulti {
		return s.applyMulti(&t)
	}
	var r Result
	for _, c := range t.Changes {
		r.Reply = s.apply(c, &t, &r)
	}
	return r
}

// apply makes one change, appends its events to r and returns the reply. (It is not a
// method of Change, so that t and r stay on the stack.)
func (s *Store) apply(change Change, t *Txn, r *Result) proto.Reply {
	switch c := change.(type) {
	case CreateNode:
		return c.apply(s, t, r)
	case DeleteNode:
		c.apply(s, t, r)
	case SetData:
		return c.apply(s, t, r)
	case SetACL:
		return c.apply(s, t)
	case CreateSession:
		c.apply(s)
	case CloseSession:
		c.apply(s, t)
	}
	return nil
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
