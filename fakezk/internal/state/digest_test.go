package state

import (
	"testing"

	"github.com/zksim/zksim/internal/check"
)

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
