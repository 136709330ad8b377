package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

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
