package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/museum"
)

// hunts are four that have found something.
func hunts(t *testing.T) []museum.Hunted {
	t.Helper()
	o := finding(t, 1, "lock", "zk.Lock", "drop-request client=a op=getChildren2 request=1").Outcome
	var list []museum.Hunted
	for i, runs := range []int{9, 2, 4, 1} {
		list = append(list, museum.Hunted{Minimal: o, Runs: runs, Took: time.Duration(1+i) * time.Second})
	}
	return list
}

// TestMedians of an even number: the mean of two times, the larger of two counts.
func TestMedians(t *testing.T) {
	j := entryOf(museum.Exhibit{ID: "B1"}, hunts(t))
	if j.Seconds != 2.5 || j.Worst != 4 || j.Runs != 4 {
		t.Errorf("median %v s, worst %v s, median of %d scenarios; want 2.5, 4 and 4", j.Seconds, j.Worst, j.Runs)
	}
	var out strings.Builder
	c := museumCommand{counts: []int{9, 2, 4, 1}, times: []float64{1, 2, 3, 4}}
	a := &app{out: &out, progress: &progress{}}
	if err := c.end(a, museumJSON{Exhibits: []exhibitJSON{j}}, nil, 1, 0); err != nil {
		t.Fatal(err)
	}
	want := "  4, 9 and 9 scenarios (the median is the larger of 2 and 4)\n  2.50 s, 4.00 s and 4.00 s\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q; want it to end with %q", out.String(), want)
	}
}
