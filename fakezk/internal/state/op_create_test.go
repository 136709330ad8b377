package state

import (
	"math"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// createFixture has the nodes /a, /ro (without CREATE) and the ephemeral /e.
func createFixture(t testing.TB) *Store {
	s := newStore(t)
	must(t, s, guest(),
		create("/a"), createACL("/ro", world(proto.PermRead)),
		createFlags("/e", proto.FlagEphemeral))
	return s
}

// TestSequenceNumberStopsAtItsLargest compares with a real server after 2147483647 children: it
// repeats that number, except in a multi, which overflows, and the parent's pzxid stays.
func TestSequenceNumberStopsAtItsLargest(t *testing.T) {
	s := createFixture(t)
	n, _ := s.tree.find("/a")
	n.counter = math.MaxInt32 - 1
	next := func(path string) string {
		r := do(t, s, guest(), createFlags(path, proto.FlagPersistentSequential))
		if r.Err != proto.OK {
			return r.Err.String()
		}
		return r.Reply.(proto.PathReply).Path
	}
	check.Equal(t, next("/a/a"), "/a/a2147483646")
	pzxid := s.LastZxid()
	for _, path := range []string{"/a/a", "/a/b"} {
		check.Equal(t, next(path), path+"2147483647")
	}
	check.Equal(t, next("/a/a"), "NodeExists")
	if st := stat(t, s, "/a"); st.Cversion != -5 || st.NumChildren != 3 || st.Pzxid != pzxid {
		t.Errorf("%+v", st)
	}
	r := do(t, s, guest(), multi(createFlags("/a/e", 2), createFlags("/a/f", 2),
		createFlags("/a/g", 2)))
	for i, want := range []string{"/a/e2147483647", "/a/f-2147483648", "/a/g-2147483647"} {
		check.Equal(t, r.Reply.(proto.MultiReply).Results[i].Reply.(proto.PathReply).Path, want)
	}
	check.Equal(t, next("/a/h"), "/a/h2147483647")
}

func TestEphemeralNeedsASession(t *testing.T) {
	s := newStore(t)
	tests := []struct {
		session int64
		flags   int32
		want    proto.ErrCode
	}{
		{s1, 1, proto.OK}, {0, 1, proto.SessionExpired}, {0, 0, proto.OK},
		{0x99, 1, proto.SessionExpired}, {0x99, 0, proto.SessionExpired},
	}
	for i, test := range tests {
		path := "/x" + string(rune('a'+i))
		r := do(t, s, Caller{Session: test.session}, createFlags(path, test.flags))
		check.Equal(t, r.Err, test.want, "session %#x flags %d", test.session, test.flags)
	}
}
