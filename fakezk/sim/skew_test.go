package sim

import (
	"testing"
	"time"
)

// TestTheNextLeaderHasAnotherClock: the mtime of a node falls in some run of few, if the leader
// changes between two writes. Without another leader it never falls.
func TestTheNextLeaderHasAnotherClock(t *testing.T) {
	falls := func(servers int, plan string) (n int) {
		for seed := range uint64(20) {
			var times []int64
			performIn(t, World{Seed: seed, Servers: servers}, plan, func(s *stage) {
				s.create("/x", 0)
				for range 3 {
					_ = s.Sleep(s.ctx, 700*time.Millisecond)
					stat, err := s.Conn().Set("/x", nil, -1)
					for err != nil {
						stat, err = s.Conn().Set("/x", nil, -1)
					}
					times = append(times, stat.Mtime)
				}
			})
			for i := range times[1:] {
				if times[i+1] < times[i] {
					n++
				}
			}
		}
		return n
	}
	if n := falls(3, "failover-lose 1s op=setData request=2"); n == 0 {
		t.Error("it never falls after a failover")
	}
	if n := falls(3, "") + falls(1, "restart 1s op=setData request=2"); n > 0 {
		t.Errorf("it falls %d times under one leader", n)
	}
}
