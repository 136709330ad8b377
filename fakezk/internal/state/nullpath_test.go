package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

func TestNullPaths(t *testing.T) {
	null := proto.NullPath
	writes := []struct {
		req  proto.Request
		want proto.ErrCode
	}{
		{create(null), proto.MarshallingError},
		{createFlags(null, 9), proto.BadArguments},
		{createACL(null, nil), proto.MarshallingError},
		{createAs(proto.OpCreateTTL, null, 5, 100), proto.MarshallingError},
		{remove(null), proto.MarshallingError},
		{set(null, "", -1), proto.BadArguments},
		{&proto.SetACL{Path: null, ACL: worldAll, Version: -1}, proto.BadArguments},
		{&proto.Check{Path: null, Version: -1}, proto.BadArguments},
	}
	s := newStore(t)
	for _, test := range writes {
		if r := do(t, s, nobody(), test.req); r.Err != test.want || r.Reply != nil {
			t.Errorf("%s: %+v, want %s", describe(test.req), r, test.want)
		}
	}
	_, exists := s.Exists(null)
	_, _, data := s.GetData(null, nobody())
	_, _, kids := s.Children(null, nobody())
	_, _, acl := s.ACL(null, nobody())
	_, count := s.CountDescendants(null, nobody())
	const broken = proto.MarshallingError
	if diff := cmp.Diff([]proto.ErrCode{broken, broken, broken, broken, broken}, []proto.ErrCode{exists, data, kids, acl, count}); diff != "" {
		t.Error(diff)
	}
}

// TestMultiWithANullPathSkipsAZxid holds what a real server does: the zxid of the reply
// is the one before, the next write has the one behind, whatever else is in the multi.
func TestMultiWithANullPathSkipsAZxid(t *testing.T) {
	null := proto.NullPath
	multis := [][]proto.Request{
		{create(null)}, {set(null, "", -1)}, {&proto.Check{Path: null}},
		{remove("/no"), create(null)},
		{createFlags("/x", proto.FlagTTL), remove(null)},
		{&proto.GetData{Path: null}},
		{&proto.GetData{Path: "/"}, &proto.GetChildren{Code: proto.OpGetChildren, Path: null}},
	}
	s, follower, fromLog := newStore(t), newStore(t), newStore(t)
	for _, ops := range multis {
		last := s.LastZxid()
		txn := s.Prepare(multi(ops...), nobody(), 5)
		want := Result{Err: proto.MarshallingError, Reply: proto.MultiReply{}}
		if diff := cmp.Diff(want, s.Apply(txn)); diff != "" || !txn.Skipped {
			t.Errorf("skipped %v\n%s", txn.Skipped, diff)
		}
		follower.Apply(txn)
		if s.LastZxid() != last {
			t.Errorf("shows zxid %d after %d", s.LastZxid(), last)
		}
		next := s.Prepare(set("/", "x", -1), nobody(), 6)
		if next.Zxid != last+2 {
			t.Errorf("zxid %d follows %d", next.Zxid, last)
		}
		s.Apply(next)
		follower.Apply(next)
		fromLog.Apply(next)
	}
	wantSame(t, "follower", imageOf(s), imageOf(follower))
	wantSame(t, "store made from a log without the skipped", imageOf(s), imageOf(fromLog))
}

func TestMultiOfReadsIsRefused(t *testing.T) {
	s := newStore(t)
	for _, ops := range [][]proto.Request{
		{&proto.GetData{Path: "/"}},
		{&proto.GetChildren{Code: proto.OpGetChildren, Path: "/"}, &proto.GetData{Path: "/no"}},
		{create(proto.NullPath), &proto.SetACL{Path: "/", ACL: worldAll, Version: -1}},
	} {
		if diff := cmp.Diff(Result{Err: proto.MarshallingError}, do(t, s, nobody(), multi(ops...))); diff != "" {
			t.Error(diff)
		}
	}
}
