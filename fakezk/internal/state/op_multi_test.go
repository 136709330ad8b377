package state

import (
	"fmt"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

func TestMultiAnswersEachOperation(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/p"))
	r := do(t, s, guest(), multi(
		createAs(proto.OpCreate2, "/p/a", 0, 0),
		createFlags("/p/n", proto.FlagPersistentSequential),
		createFlags("/p/n", proto.FlagEphemeralSequential),
		createFlags("/p/box", proto.FlagContainer),
		createAs(proto.OpCreateTTL, "/p/ttl", proto.FlagTTL, 7),
		createAs(proto.OpCreateTTL, "/p/plain", proto.FlagPersistent, 7),
		&proto.Check{Path: "/p/a", Version: 0},
		set("/p/a", "x", 0),
		remove("/p/plain"),
	))
	zxid := s.LastZxid()
	fresh := proto.Stat{
		Czxid: zxid, Mzxid: zxid, Pzxid: zxid,
		Ctime: 1000 * zxid, Mtime: 1000 * zxid,
	}
	changed := fresh
	changed.Version, changed.DataLength = 1, 1
	want := []proto.OpResult{
		{Op: proto.OpCreate, Reply: proto.PathReply{Path: "/p/a"}},
		{Op: proto.OpCreate, Reply: proto.PathReply{Path: "/p/n0000000001"}},
		{Op: proto.OpCreate, Reply: proto.PathReply{Path: "/p/n0000000002"}},
		{Op: proto.OpCreate2, Reply: proto.PathStatReply{Path: "/p/box", Stat: fresh}},
		{Op: proto.OpCreate2, Reply: proto.PathStatReply{Path: "/p/ttl", Stat: fresh}},
		{Op: proto.OpCreate, Reply: proto.PathReply{Path: "/p/plain"}},
		{Op: proto.OpCheck},
		{Op: proto.OpSetData, Reply: proto.StatReply{Stat: changed}},
		{Op: proto.OpDelete},
	}
	check.Equal(t, r.Err, proto.OK)
	check.Diff(t, r.Reply, proto.Reply(proto.MultiReply{Results: want}))
	if st := stat(t, s, "/p"); st.Cversion != 7 || st.NumChildren != 5 || st.Pzxid != zxid {
		t.Errorf("parent: %+v", st)
	}
}

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

// TestMultiSeesItsChanges: each operation is right only after those before it.
func TestMultiSeesItsChanges(t *testing.T) {
	for name, ops := range map[string][]proto.Request{
		"a parent without its child": {remove("/a/b"), remove("/a")},
		"a parent made and emptied":  {create("/x"), create("/x/y"), remove("/x/y"), remove("/x")},
		"the next version":           {set("/a", "", 0), set("/a", "", 1)},
		"a name that is free again":  {remove("/a/b"), create("/a/b"), set("/a/b", "", 0)},
	} {
		s := newStore(t)
		must(t, s, guest(), create("/a"), create("/a/b"))
		r := do(t, s, guest(), multi(ops...))
		if m := r.Reply.(proto.MultiReply); m.Results[0].Op == proto.OpError {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestMultiThatCannotBeUnderstood(t *testing.T) {
	for _, op := range []proto.Request{
		createFlags("/x", proto.FlagTTL),
		createAs(proto.OpCreate2, "/x", proto.FlagPersistentSequentialTTL, 5),
		&proto.SetACL{Path: "/a", ACL: worldAll, Version: -1},
		&proto.Exists{Path: "/"},
		&proto.GetData{Path: "/"},
		multi(),
	} {
		s := newStore(t)
		before := imageOf(s)
		r := do(t, s, guest(), multi(create("/y"), op))
		if r.Err != proto.MarshallingError || r.Reply != nil {
			t.Errorf("%s: %+v", describe(op), r)
		}
		before.drawZxid()
		wantSame(t, describe(op), before, imageOf(s))
	}
}

func TestEmptyMultiSucceeds(t *testing.T) {
	s := newStore(t)
	r := do(t, s, guest(), multi())
	check.Diff(t, r, Result{Reply: proto.MultiReply{Results: []proto.OpResult{}}})
}

func TestMultiFiresInTheOrderOfItsOperations(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/a"))
	r := do(t, s, guest(), multi(
		remove("/a"), create("/a"), set("/a", "x", 0),
		&proto.Check{Path: "/a", Version: 1}, create("/a/b"),
	))
	want := "Deleted /a, ChildrenChanged /, Created /a, ChildrenChanged /, DataChanged /a, " +
		"Created /a/b, ChildrenChanged /a"
	check.Equal(t, events(r), want)
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
