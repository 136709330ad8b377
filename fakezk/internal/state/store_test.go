package state

import (
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

func TestPathRules(t *testing.T) {
	good := []string{
		"/", "/a", "/a/b", "/...", "/..a", "/a..b", "/.a", "/ ", "/a\\b",
		"/\u00a0", "/漢", "/\uf900", "/\uffef",
	}
	bad := []string{
		"", "a", "/a/", "//", "//a", "/a//b", "/.", "/..", "/a/./b", "/a/..",
		"/\x00", "/\x01", "/\x1f", "/\x7f", "/\u009f", "/\ue000", "/\uf8ff", "/\ufff0",
		"/\ufffd", "/\uffff", "/\U0001F600", "/\xff", "/\xed\xa0\x80",
	}
	for _, path := range good {
		if !validPath(path) {
			t.Errorf("%q is refused", path)
		}
	}
	for _, path := range bad {
		if validPath(path) {
			t.Errorf("%q is accepted", path)
		}
	}
}

func TestMalformedWriteConsumesAZxid(t *testing.T) {
	s := newStore(t)
	before := imageOf(s)
	r := s.Apply(s.PrepareMalformed(proto.OpMulti, s1, 5))
	check.Diff(t, r, Result{Err: proto.MarshallingError})
	before.drawZxid()
	wantSame(t, "after a malformed write", before, imageOf(s))
}

func TestApplyPanicsOnAGap(t *testing.T) {
	s := newStore(t)
	txn := s.Prepare(create("/a"), guest(), 1)
	s.Apply(txn)
	defer func() {
		if recover() == nil {
			t.Error("applied the same Txn twice")
		}
	}()
	s.Apply(txn)
}
