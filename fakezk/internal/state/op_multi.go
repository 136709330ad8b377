package state

import (
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// prepareMulti checks the operations in order; each sees the changes of those before
// it. The first that fails makes the whole multi fail.
func (s *Store) prepareMulti(t Txn, m *proto.Multi, by Caller) Txn {
	switch {
	case slices.ContainsFunc(m.Ops, notDecoded):
		t.Err = proto.MarshallingError
		return t
	case slices.ContainsFunc(m.Ops, hasNullPath):
		t.Err, t.Skipped = proto.MarshallingError, true
		return t
	}
	d := draft{
		store: s, by: by, pending: map[string]record{}, changes: make([]Change, 0, len(m.Ops)),
	}
	for i, op := range m.Ops {
		if i%1024 == 1023 && s.cfg.Interrupted != nil && s.cfg.Interrupted() {
			t.Err = proto.SystemError
			return t
		}
		switch err := d.multiStep(op); err {
		case proto.OK:
		case proto.MarshallingError:
			t.Err = err
			return t
		default:
			t.Err, t.OpErrs = err, failedAt(i, len(m.Ops), err)
			return t
		}
	}
	t.Changes = d.changes
	return t
}

// notDecoded reports whether a multi with this operation is refused before any of its
// operations is checked.
func notDecoded(op proto.Request) bool {
	switch op.(type) {
	case *proto.Create, *proto.Delete, *proto.SetData, *proto.Check,
		*proto.GetData, *proto.GetChildren:
		return false
	}
	return true
}

// hasNullPath reports whether the path of an operation is null. At such an operation the
// Java server throws an exception after it has drawn the zxid of the multi and before it
// has a transaction to refuse.
func hasNullPath(op proto.Request) bool {
	switch q := op.(type) {
	case *proto.Create:
		return q.Path == proto.NullPath
	case *proto.Delete:
		return q.Path == proto.NullPath
	case *proto.SetData:
		return q.Path == proto.NullPath
	case *proto.Check:
		return q.Path == proto.NullPath
	case *proto.GetData:
		return q.Path == proto.NullPath
	case *proto.GetChildren:
		return q.Path == proto.NullPath
	}
	return false
}

// multiStep is step within a multi. MarshallingError means that the server cannot decode this
// operation; it is the error of the whole multi unless an earlier operation failed.
func (d *draft) multiStep(op proto.Request) proto.ErrCode {
	q, ok := op.(*proto.Create)
	if !ok {
		return d.step(op)
	}
	c, ok := multiCreate(q)
	if !ok {
		return proto.MarshallingError
	}
	return d.step(c)
}

// failedAt returns the outcomes of n operations if the one at index i failed.
func failedAt(i, n int, err proto.ErrCode) []proto.ErrCode {
	errs := make([]proto.ErrCode, n)
	errs[i] = err
	for j := i + 1; j < n; j++ {
		errs[j] = proto.RuntimeInconsistency
	}
	return errs
}

// multiCreate returns a create with the operation code that its flags ask for, as Op.Create does on
// the Java server: the container flag makes a container, the TTL flags make a TTL node, and all
// others make it a create. It returns false for TTL flags without the record of a createTTL.
func multiCreate(q *proto.Create) (*proto.Create, bool) {
	c := *q
	switch q.Flags {
	case proto.FlagTTL, proto.FlagPersistentSequentialTTL:
		return &c, q.Code == proto.OpCreateTTL
	case proto.FlagContainer:
		c.Code = proto.OpCreateContainer
	default:
		c.Code = proto.OpCreate
	}
	return &c, true
}

func (s *Store) applyMulti(t *Txn) Result {
	var r Result
	results := make([]proto.OpResult, 0, len(t.Changes))
	for _, c := range t.Changes {
		reply := s.apply(c, t, &r)
		results = append(results, proto.OpResult{Op: resultOp(c, reply), Reply: reply})
	}
	r.Reply = proto.MultiReply{Results: results}
	return r
}

// resultOp returns the operation code in the header of a result.
func resultOp(c Change, reply proto.Reply) proto.OpCode {
	switch c.(type) {
	case CreateNode:
		if _, withStat := reply.(proto.PathStatReply); withStat {
			return proto.OpCreate2
		}
		return proto.OpCreate
	case DeleteNode:
		return proto.OpDelete
	case SetData:
		return proto.OpSetData
	}
	return proto.OpCheck
}

// multiFailure returns the reply to a failed multi. Every result is an error; that of
// an operation before the failed one is OK.
func multiFailure(errs []proto.ErrCode) proto.MultiReply {
	results := make([]proto.OpResult, len(errs))
	for i, err := range errs {
		results[i] = proto.OpResult{Op: proto.OpError, Err: err}
	}
	return proto.MultiReply{Results: results}
}
