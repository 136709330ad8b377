package scenario_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// TestARunThatEndsInTheMidstTellsOfCodeThatSpins on the connection that this closes.
func TestARunThatEndsInTheMidstTellsOfCodeThatSpins(t *testing.T) {
	t.Parallel()
	for _, spins := range []bool{true, false} {
		s := unseen(func(p *scenario.Player) {
			_, _, closed, err := p.Conn().ExistsW("/y")
			if err == nil {
				<-closed
			}
			for spins && err == nil {
				if _, _, err := p.Conn().Get("/y"); err != zk.ErrConnectionClosed {
					return
				}
			}
		})
		s.Workload.Freeze = 200 * time.Millisecond
		turns := 0
		o, err := s.RunBy(func(trace.Turn) int { turns++; return min(0, 8-turns) }, false)
		check.Equal(t, o == nil, true)
		check.Equal(t, err != nil, spins, "%v", err)
		if spins {
			check.Contains(t, fmt.Sprint(err), "code must end when its connection is closed: it never "+
				"ends: it spins at ")
		}
	}
}
