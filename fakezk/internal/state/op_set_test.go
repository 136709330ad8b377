package state

import (
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

func TestSetDataAndCheckRequireTheSame(t *testing.T) {
	tests := []struct {
		name    string
		path    string
		version int32
		want    proto.ErrCode
	}{
		{"empty path", "", -1, proto.BadArguments},
		{"relative", "a", -1, proto.BadArguments},
		{"trailing slash", "/a/", -1, proto.BadArguments},
		{"missing", "/no", -1, proto.NoNode},
		{"permission before version", "/locked", 9, proto.NoAuth},
		{"wrong version", "/a", 1, proto.BadVersion},
		{"version -2", "/a", -2, proto.BadVersion},
		{"right version", "/a", 0, proto.OK},
		{"any version", "/a", -1, proto.OK},
		{"root", "/", -1, proto.OK},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStore(t)
			must(t, s, guest(), create("/a"), createACL("/locked", world(proto.PermAdmin)))
			r := do(t, s, guest(), &proto.Check{Path: test.path, Version: test.version})
			if r.Err != test.want || r.Reply != nil || r.Events != nil {
				t.Errorf("check: got %+v, want %s", r, test.want)
			}
			if r := do(t, s, guest(), set(test.path, "x", test.version)); r.Err != test.want {
				t.Errorf("setData: got %s, want %s", r.Err, test.want)
			}
		})
	}
}

func TestSetDataToTheSameBytesCounts(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/a"))
	for version := range int32(3) {
		r := do(t, s, guest(), set("/a", "same", version))
		st := stat(t, s, "/a")
		if st.Version != version+1 || st.Mzxid != s.LastZxid() || events(r) != "DataChanged /a" {
			t.Errorf("%+v fires %q", st, events(r))
		}
		check.Diff(t, r.Reply, proto.Reply(proto.StatReply{Stat: st}))
	}
}

func TestNullDataIsNotEmptyData(t *testing.T) {
	s := newStore(t)
	null := create("/null")
	null.Data = nil
	must(t, s, guest(), null, create("/empty"))
	if data, st, _ := s.GetData("/null", guest()); data != nil || st.DataLength != 0 {
		t.Errorf("null is %#v", data)
	}
	if data, _, _ := s.GetData("/empty", guest()); data == nil {
		t.Error("empty became null")
	}
}
