package state

import (
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

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

func TestSkipToGoesOnBehindTheZxidAndNeverBack(t *testing.T) {
	s := New(Config{})
	s.SkipTo(41)
	s.SkipTo(7)
	check.Equal(t, s.LastZxid(), 41, "the last zxid")
	txn := s.PrepareCreateSession(1, [16]byte{}, 4000, 0)
	s.Apply(txn)
	if txn.Zxid != 42 || s.LastZxid() != 42 {
		t.Errorf("a transaction has zxid %d, the last is %d; want 42", txn.Zxid, s.LastZxid())
	}
}

func TestDigestsAreOfTheLast1024Multiples(t *testing.T) {
	s := New(Config{Digests: true})
	for i := int64(1); i <= 1026; i++ {
		s.SkipTo(i*128 - 1)
		s.Apply(s.Prepare(create("/a"), Caller{Super: true}, i))
	}
	got := s.Digests()
	if len(got) != 1024 || got[0].Zxid != 3*128 || got[1023].Zxid != 1026*128 {
		t.Errorf("%d digests, from %+v to %+v", len(got), got[0], got[len(got)-1])
	}
	check.Equal(t, got[0].Value, got[1023].Value, "digest after refused writes")
	before := s.tree.digest.sum
	s.SetCreated("/a", 7)
	if s.tree.digest.sum == before {
		t.Error("the number of created children is not in the digest")
	}
}
