package fakezk

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// TestAdvanceZxid: a client that has seen the zxids of a server that is gone is
// refused by the next until that has advanced its own, and never goes back.
func TestAdvanceZxid(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		knows := proto.ConnectRequest{TimeoutMs: 4000, LastZxidSeen: 42}
		r := rawDial(t, s)
		r.sendHandshake(knows)
		r.wantClosed()
		for _, zxid := range []int64{42, 7} {
			mustDo(t, s.AdvanceZxid(zxid))
		}
		check.Equal(t, s.LastZxid(), 42, "the last zxid")
		r = rawDial(t, s)
		if resp := r.handshake(knows); resp.SessionID == 0 {
			t.Error("refused still")
		}
		if h := r.mustCall(rawCreate("/a", 0)); h.Zxid != 44 { // 43 is the session
			t.Errorf("zxid %d; want 44", h.Zxid)
		}
		time.Sleep(time.Second)
	})
}

func TestAdvanceZxidHasARange(t *testing.T) {
	s := Start(t)
	for _, zxid := range []int64{-1, maxFirstZxid + 1, math.MaxInt64} {
		check.Contains(t, fmt.Sprint(s.AdvanceZxid(zxid)), "expected 0 to 4611686018427387903",
			"%d", zxid)
	}
	mustDo(t, s.AdvanceZxid(maxFirstZxid))
}
