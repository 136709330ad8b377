package state

import (
	"testing"

	"github.com/zksim/zksim/internal/check"
)

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
