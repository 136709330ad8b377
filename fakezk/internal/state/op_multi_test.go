package state

import (
	"fmt"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

const inconsistent = proto.RuntimeInconsistency

// failingMultis are multis with the error of each operation.
var failingMultis = []struct {
	name string
	ops  []proto.Request
	want []proto.ErrCode
}{
	{
		"first", []proto.Request{remove("/no"), create("/x")},
		[]proto.ErrCode{proto.NoNode, inconsistent},
	},
	{
		"last", []proto.Request{create("/x"), create("/y"), set("/x", "", 3)},
		[]proto.ErrCode{0, 0, proto.BadVersion},
	},
	{
		"create twice", []proto.Request{create("/x"), create("/x")},
		[]proto.ErrCode{0, proto.NodeExists},
	},
	{
		"delete twice", []proto.Request{remove("/a/b"), remove("/a/b")},
		[]proto.ErrCode{0, proto.NoNode},
	},
	{
		"parent of a new node", []proto.Request{create("/x"), create("/x/y"), remove("/x")},
		[]proto.ErrCode{0, 0, proto.NotEmpty},
	},
	{
		"child of a deleted node", []proto.Request{remove("/a/b"), create("/a/b/c")},
		[]proto.ErrCode{0, proto.NoNode},
	},
	{
		"child of a new ephemeral", []proto.Request{createFlags("/e", 1), create("/e/x")},
		[]proto.ErrCode{0, proto.NoChildrenForEphemerals},
	},
	{
		"new ACL", []proto.Request{createACL("/x", world(0)), set("/x", "", -1)},
		[]proto.ErrCode{0, proto.NoAuth},
	},
	{
		"version after a change",
		[]proto.Request{set("/a", "", 0), &proto.Check{Path: "/a"}},
		[]proto.ErrCode{0, proto.BadVersion},
	},
	{
		"version of a node made again",
		[]proto.Request{set("/a/b", "", 0), remove("/a/b"), create("/a/b"), set("/a/b", "", 1)},
		[]proto.ErrCode{0, 0, 0, proto.BadVersion},
	},
	{
		"ttl flag behind a failure",
		[]proto.Request{remove("/no"), createFlags("/x", proto.FlagTTL)},
		[]proto.ErrCode{proto.NoNode, inconsistent},
	},
	{"bad flag", []proto.Request{createFlags("/x", 9)}, []proto.ErrCode{proto.BadArguments}},
	{
		"ttl out of range", []proto.Request{createAs(proto.OpCreateTTL, "/x", 5, 0)},
		[]proto.ErrCode{proto.BadArguments},
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
