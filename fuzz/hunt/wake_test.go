package hunt

import (
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
)

// TestAWakeBeginsWithTheRetry, also if the request that was struck was applied.
func TestAWakeBeginsWithTheRetry(t *testing.T) {
	t.Parallel()
	for _, kind := range losses {
		s := calmLocks(t).Scenario
		s.Plan = []fault.Fault{{Kind: kind, Client: "a", Op: "create", Request: 1}}
		o, err := s.Run()
		check.OK(t, err)
		retries := wake(o)
		if len(retries) == 0 || retries[0].Client != "a" || retries[0].Conn < 2 {
			t.Errorf("%s: the wake is %+v; want requests of the next connection", kind, retries)
		}
	}
}
