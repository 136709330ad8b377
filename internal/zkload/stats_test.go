package main

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestPercentileIsNearestRank(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, c := range []struct {
		values []time.Duration
		p      float64
		want   time.Duration
	}{
		{nil, 50, 0},
		{[]time.Duration{7}, 0, 7},
		{[]time.Duration{7}, 99, 7},
		{[]time.Duration{1, 2}, 50, 1},
		{[]time.Duration{1, 2}, 51, 2},
		{[]time.Duration{1, 2, 3}, 50, 2},
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 99.1, 100},
		{hundred, 100, 100},
	} {
		if got := percentile(c.values, c.p); got != c.want {
			t.Errorf("percentile of %d values, %v: %d, expected %d", len(c.values), c.p, got, c.want)
		}
	}
}

func TestMedianLeavesItsArgumentAlone(t *testing.T) {
	values := []float64{9, 1, 5}
	if got := median(values); got != 5 || !slices.Equal(values, []float64{9, 1, 5}) {
		t.Errorf("median %v, values now %v", got, values)
	}
	if got := median([]float64{4, 1, 2, 100}); got != 3 {
		t.Errorf("median of four: %v, expected 3", got)
	}
	if got := median([]time.Duration(nil)); got != 0 {
		t.Errorf("median of nothing: %v", got)
	}
}

func round(requests int, p50, serverCPU time.Duration) sample {
	return sample{Requests: requests, Elapsed: time.Second, P50: p50, P99: 2 * p50, ServerCPU: serverCPU, ClientCPU: 2 * serverCPU}
}

func TestSummaryIsOfMediansButForProcessorTime(t *testing.T) {
	s := summarize([]sample{round(100, 3, 0), round(1000, 1, 10*time.Millisecond), round(400, 2, 20*time.Millisecond)})
	if s.Rate != 400 || s.P50 != 2 || s.P99 != 4 {
		t.Errorf("rate %v, p50 %v, p99 %v; expected the medians 400, 2, 4", s.Rate, s.P50, s.P99)
	}
	if s.ServerCPU != 20*time.Microsecond || s.ClientCPU != 40*time.Microsecond {
		t.Errorf("processor time %v and %v; expected 30 ms and 60 ms by 1,500 requests", s.ServerCPU, s.ClientCPU)
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
	if got := ratio(one, nil); got != 0 {
		t.Errorf("ratio to nothing: %v", got)
	}
	if got := ratio(one, []sample{{}}); got != 0 {
		t.Errorf("ratio to a round without requests: %v", got)
	}
}
