package main

import (
	"math"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
)

func round(requests int, p50, serverCPU time.Duration) sample {
	return sample{Requests: requests, Elapsed: time.Second, P50: p50, P99: 2 * p50,
		ServerCPU: serverCPU, ClientCPU: 2 * serverCPU}
}

func TestSummaryIsOfMediansButForProcessorTime(t *testing.T) {
	s := summarize([]sample{round(100, 3, 0), round(1000, 1, 10*time.Millisecond),
		round(400, 2, 20*time.Millisecond)})
	if s.Rate != 400 || s.P50 != 2 || s.P99 != 4 {
		t.Errorf("rate %v, p50 %v, p99 %v; expected the medians 400, 2, 4", s.Rate, s.P50, s.P99)
	}
	if s.ServerCPU != 20*time.Microsecond || s.ClientCPU != 40*time.Microsecond {
		t.Errorf("processor time %v and %v; expected 30 ms and 60 ms by 1,500 requests",
			s.ServerCPU, s.ClientCPU)
	}
	if empty := summarize(nil); empty.Rate != 0 || empty.ServerCPU != 0 {
		t.Errorf("of no rounds: %+v", empty)
	}
}

// The machine slows both down in the second round. The ratio does not show it;
// that of the medians would.
func TestRatioComparesWithinRounds(t *testing.T) {
	one := []sample{round(200, 1, 0), round(20, 1, 0), round(240, 1, 0)}
	other := []sample{round(100, 1, 0), round(10, 1, 0), round(80, 1, 0)}
	if got := ratio(one, other); math.Abs(got-2) > 1e-9 {
		t.Errorf("ratio %v, expected 2", got)
	}
	check.Equal(t, ratio(one, nil), 0, "ratio to nothing")
	check.Equal(t, ratio(one, []sample{{}}), 0, "ratio to a round without requests")
}

func TestCellComparesOursWithTheOthers(t *testing.T) {
	c := newCell("get", 1, map[string][]sample{
		serverOurs: {round(200, 1, 0)}, serverReal: {round(100, 1, 0)},
	})
	if len(c.OursTo) != 1 || c.OursTo[serverReal] != 2 {
		t.Errorf("%v; expected real: 2", c.OursTo)
	}
}
