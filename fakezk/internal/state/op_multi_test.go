package state

import (
	"fmt"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// failingMultis are multis with the error of each operation. Package conform has more of them
// (families/multi.txt).
var failingMultis = []struct {
	name string
	ops  []proto.Request
	want []proto.ErrCode
}{
	{
		"last", []proto.Request{create("/x"), create("/y"), set("/x", "", 3)},
		[]proto.ErrCode{0, 0, proto.BadVersion},
	},
	{
		"new ACL", []proto.Request{createACL("/x", world(0)), set("/x", "", -1)},
		[]proto.ErrCode{0, proto.NoAuth},
	},
	{
		"version of a node made again",
		[]proto.Request{set("/a/b", "", 0), remove("/a/b"), create("/a/b"), set("/a/b", "", 1)},
		[]proto.ErrCode{0, 0, 0, proto.BadVersion},
	},
	{
		"ttl flag behind a failure",
		[]proto.Request{remove("/no"), createFlags("/x", proto.FlagTTL)},
		[]proto.ErrCode{proto.NoNode, proto.RuntimeInconsistency},
	},
}

func TestMultiFailsAsAWhole(t *testing.T) {
	for _, test := range failingMultis {
		t.Run(test.name, func(t *testing.T) {
			s := newStore(t)
			must(t, s, guest(), create("/a"), create("/a/b"))
			before := imageOf(s)
			r := do(t, s, guest(), multi(test.ops...))
			if r.Err != proto.OK || r.Events != nil {
				t.Errorf("header error %s, events %q", r.Err, events(r))
			}
			var got []proto.ErrCode
			for _, res := range r.Reply.(proto.MultiReply).Results {
				if res.Op != proto.OpError || res.Reply != nil {
					t.Errorf("result %+v is not an error", res)
				}
				got = append(got, res.Err)
			}
			check.Diff(t, got, test.want)
			before.drawZxid()
			wantSame(t, "after a failed multi", before, imageOf(s))
		})
	}
}

func TestMultiOfADeadSession(t *testing.T) {
	s := newStore(t)
	r := do(t, s, Caller{Session: 0x99}, multi(create("/x"), create("/y")))
	want := multiFailure([]proto.ErrCode{proto.SessionExpired, proto.RuntimeInconsistency})
	check.Diff(t, r.Reply, proto.Reply(want))
}

func TestLongMultiIsInterrupted(t *testing.T) {
	asked := 0
	s := New(Config{Interrupted: func() bool { asked++; return asked == 2 }})
	var m proto.Multi
	for i := range 5000 {
		m.Ops = append(m.Ops, create(fmt.Sprintf("/n%d", i)))
	}
	txn := s.Prepare(&m, Caller{Super: true}, 1)
	if txn.Err != proto.SystemError || len(txn.Changes) > 0 || asked != 2 {
		t.Errorf("%s, %d changes, asked %d times", txn.Err, len(txn.Changes), asked)
	}
}
