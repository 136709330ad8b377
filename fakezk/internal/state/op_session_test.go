package state

import (
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

func TestSessionsAreListedByID(t *testing.T) {
	s := newStore(t)
	want := []SessionInfo{
		{ID: s1, Password: [16]byte{1}, TimeoutMs: 4000},
		{ID: s2, Password: [16]byte{2}, TimeoutMs: 8000},
	}
	check.Diff(t, s.Sessions(), want)
	if got, ok := s.Session(s2); !ok || got != want[1] {
		t.Errorf("%+v %v", got, ok)
	}
	if got, ok := s.Session(3); ok {
		t.Errorf("%+v", got)
	}
}

func TestClosingAnUnknownSessionConsumesAZxid(t *testing.T) {
	s := newStore(t)
	before := imageOf(s)
	if r := s.Apply(s.PrepareCloseSession(0x99, 1)); r.Err != proto.OK || r.Events != nil {
		t.Errorf("%+v", r)
	}
	before.drawZxid()
	wantSame(t, "after closing nothing", before, imageOf(s))
}

func TestCreatingAKnownSessionLeavesItAlone(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), createFlags("/e", 1))
	before := imageOf(s)
	s.Apply(s.PrepareCreateSession(s1, [16]byte{9}, 1, 1))
	before.drawZxid()
	wantSame(t, "after creating it again", before, imageOf(s))
}
