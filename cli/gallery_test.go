package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/internal/check"
)

// hunts returns four successful hunts.
func hunts(t *testing.T) []gallery.Hunted {
	t.Helper()
	o := finding(t, 1, "lock", "zk.Lock", "drop-request client=a op=getChildren2 request=1").Outcome
	var list []gallery.Hunted
	for i, runs := range []int{9, 2, 4, 1} {
		took := time.Duration(1+i) * time.Second
		list = append(list, gallery.Hunted{Minimal: o, Runs: runs, Took: took})
	}
	return list
}

// TestMedians of an even number: the mean of two times, the larger of two counts.
func TestMedians(t *testing.T) {
	j := entryOf(gallery.Exhibit{Slug: "B1"}, hunts(t))
	if j.Seconds != 2.5 || j.Worst != 4 || j.Runs != 4 {
		t.Errorf("median %v s, worst %v s, median of %d scenarios; want 2.5, 4 and 4", j.Seconds,
			j.Worst, j.Runs)
	}
	var out strings.Builder
	c := galleryCommand{counts: []int{9, 2, 4, 1}, times: []float64{1, 2, 3, 4}}
	env := envTo(t.Context(), &out, &out)
	check.OK(t, c.end(env, report.Gallery{Exhibits: []report.Exhibit{j}}, 1, 0))
	want := "  4, 9 and 9 scenarios (the median is the larger of 2 and 4)\n  2.50 s, 4.00 s and " +
		"4.00 s\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q; want it to end with %q", out.String(), want)
	}
}

// TestInterruptKeepsHunts of the exhibit under way; one without any is left out.
func TestInterruptKeepsHunts(t *testing.T) {
	const median = "\n1 of 1 exhibit found; interrupted: 1 of 1 tried\nuntil a bug was found, in the median of " +
		"2 hunts, "
	for _, c := range []struct {
		during int // number of the hunt
		json   bool
		wants  []string
	}{
		{1, false, []string{"\n0 of 1 exhibit found; interrupted: 0 of 1 tried\n"}},
		{1, true, []string{`"exhibits": []`, `"interrupted": true`}},
		{3, false, []string{" (only 2 of 3 hunts)\n", median}},
		{3, true, []string{`"hunts": 2,`, `"found": 2,`, `"interrupted": true`}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		shown := interrupter{
			after:     fmt.Sprintf("\rforeign-child-owns: exhibit 1 of 1, hunt %d of 3", c.during),
			interrupt: cancel,
		}
		var out strings.Builder
		env := envTo(ctx, &out, &out)
		env.Progress = command.NewProgress(&shown, func() int { return 0 })
		exhibits, err := gallery.Named("S0-10")
		check.OK(t, err)
		visit := galleryCommand{Seeds: 3, Seed: 1, Runs: 20, JSON: c.json}
		if err := visit.hunt(env, exhibits); !env.Interrupted(err) {
			t.Errorf("during hunt %d: error %v; want the interrupt", c.during, err)
		}
		for _, want := range c.wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("during hunt %d: %q; want %q", c.during, out.String(), want)
			}
		}
	}
}

// TestErrorKeepsExhibits that were hunted before, found or missed.
func TestErrorKeepsExhibits(t *testing.T) {
	shown, err := gallery.Named("S0-10")
	check.OK(t, err)
	missed, broken := shown[0], shown[0]
	missed.Slug, missed.Wrong = "M", shown[0].Right
	broken.Slug, broken.Wrong = "F", failingJudge("", errors.New("the judge has gone home"))
	for _, json := range []bool{false, true} {
		var out, errs strings.Builder
		env := envTo(t.Context(), &out, &errs)
		c := galleryCommand{Seeds: 1, Seed: 1, Runs: 20, JSON: json}
		err := c.hunt(env, []gallery.Exhibit{shown[0], missed, broken})
		if !errors.Is(err, command.ErrViolated) ||
			!strings.HasSuffix(errs.String(), ": the judge has gone home\n") {
			t.Errorf("%v, stderr %q; want what was missed, and the error", err, errs.String())
		}
		wants := []string{"\nforeign-child-owns ", "NOT FOUND",
			"\n1 of 3 exhibits found; ended by an error: 2 of 3 tried\n"}
		if json {
			wants = []string{
				`"slug": "foreign-child-owns"`, `"slug": "M"`, `"interrupted": false`,
				`"error": "hunt F: `,
			}
		}
		for _, want := range wants {
			check.Contains(t, out.String(), want)
		}
	}
}
