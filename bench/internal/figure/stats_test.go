package figure

import (
	"slices"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
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
		check.Equal(t, Percentile(c.values, c.p), c.want,
			"percentile of %d values, %v", len(c.values), c.p)
	}
}

func TestMedianLeavesItsArgumentAlone(t *testing.T) {
	values := []float64{9, 1, 5}
	if got := Median(values); got != 5 || !slices.Equal(values, []float64{9, 1, 5}) {
		t.Errorf("median %v, values now %v", got, values)
	}
	check.Equal(t, Median([]float64{4, 1, 2, 100}), 3, "median of four")
	check.Equal(t, Median([]time.Duration(nil)), 0, "median of nothing")
}
