package figure

import (
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
		if got := Percentile(c.values, c.p); got != c.want {
			t.Errorf("percentile of %d values, %v: %d, expected %d", len(c.values), c.p, got,
				c.want)
		}
	}
}

func TestMedianLeavesItsArgumentAlone(t *testing.T) {
	values := []float64{9, 1, 5}
	if got := Median(values); got != 5 || !slices.Equal(values, []float64{9, 1, 5}) {
		t.Errorf("median %v, values now %v", got, values)
	}
	if got := Median([]float64{4, 1, 2, 100}); got != 3 {
		t.Errorf("median of four: %v, expected 3", got)
	}
	if got := Median([]time.Duration(nil)); got != 0 {
		t.Errorf("median of nothing: %v", got)
	}
}
