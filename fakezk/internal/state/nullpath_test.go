package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
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
		if r := do(t, s, guest(), test.req); r.Err != test.want || r.Reply != nil {
			t.Errorf("%s: %+v, want %s", describe(test.req), r, test.want)
		}
	}
	_, exists := s.Exists(null)
	_, _, data := s.GetData(null, guest())
	_, _, kids := s.Children(null, guest())
	_, _, acl := s.ACL(null, guest())
	_, count := s.CountDescendants(null, guest())
	for i, err := range []proto.ErrCode{exists, data, kids, acl, count} {
		check.Equal(t, err, proto.MarshallingError, "read %d", i)
	}
}

// TestMultiWithANullPathSkipsAZxid compares with a real server: the reply has the zxid
// before the multi's, the next write the one after it, with any other operations in it.
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
		txn := s.Prepare(multi(ops...), guest(), 5)
		want := Result{Err: proto.MarshallingError, Reply: proto.MultiReply{}}
		if diff := cmp.Diff(want, s.Apply(txn)); diff != "" || !txn.Skipped {
			t.Errorf("skipped %v\n%s", txn.Skipped, diff)
		}
		follower.Apply(txn)
		check.Equal(t, s.LastZxid(), last, "zxid")
		next := s.Prepare(set("/", "x", -1), guest(), 6)
		check.Equal(t, next.Zxid, last+2, "next zxid")
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
		r := do(t, s, guest(), multi(ops...))
		check.Diff(t, r, Result{Err: proto.MarshallingError})
	}
}
