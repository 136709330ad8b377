package hunt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// visited is a proof with the classes that it has visited, in order.
type visited struct {
	classes                              []string
	runs, redundant, views, plans, tried int
	unknown                              int
	undecided                            string
}

// visit runs a proof within bounds, again and again for as long as something is left.
func visit(t *testing.T, s scenario.Scenario, b Bounds, between func()) (v visited, times int) {
	t.Helper()
	for {
		p := newProver(s)
		p.Bounds = b
		p.visit = func(o *scenario.Outcome) {
			v.classes = append(v.classes, fmt.Sprint(o.Scenario.Plan, o.Scenario.Schedule))
		}
		check.OK(t, p.resume())
		check.OK(t, p.run(t.Context()))
		times++
		if p.Complete {
			v.runs, v.redundant, v.views, v.plans, v.tried = p.Runs, p.Redundant, p.Views, p.Plans,
				p.Tried
			check.Equal(t, p.Classes, len(v.classes))
			v.unknown = p.Undecided
			if p.FirstUndecided != nil {
				v.undecided = p.FirstUndecided.Summary()
			}
			return v, times
		}
		between()
	}
}

// TestResumedProofsEndLikeOthers: with the same classes, each of them once, and the same counts.
func TestResumedProofsEndLikeOthers(t *testing.T) {
	t.Parallel()
	tries := regexp.MustCompile(`"try":\[(\d+),[\d,]+\]`)
	for _, s := range []scenario.Scenario{
		tiny("store /x, get /y", "get /x, store /y"),
		tiny("number /dir/n-, list /dir", "number /dir/n-, delete /dir/n-0000000000"),
	} {
		file := filepath.Join(t.TempDir(), "left")
		whole, _ := visit(t, s, Bounds{Faults: 1}, nil)
		slices.Sort(whole.classes)
		interrupted, times := visit(t, s, Bounds{Faults: 1, Runs: 13, Resume: file}, func() {})
		slices.Sort(interrupted.classes)
		check.Equal(t, fmt.Sprint(interrupted), fmt.Sprint(whole))
		if times < 5 {
			t.Errorf("it was interrupted %d times; want more", times-1)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("the file is there although nothing is left")
		}
		forgets := func() {
			text, err := os.ReadFile(file)
			check.OK(t, err)
			text = tries.ReplaceAll(text, []byte(`"try":[$1]`))
			check.OK(t, os.WriteFile(file, text, 0o666))
		}
		less, _ := visit(t, s, Bounds{Faults: 1, Runs: 13, Resume: file}, forgets)
		if len(less.classes) >= len(whole.classes) {
			t.Errorf("nobody notices that the file has forgotten what is to be tried")
		}
	}
}

// TestInterruptedProofsCanBeResumed, as those that are out of time.
func TestInterruptedProofsCanBeResumed(t *testing.T) {
	t.Parallel()
	s, file := tiny("store /x, get /y", "get /x, store /y"), filepath.Join(t.TempDir(), "left")
	whole, err := Prove(t.Context(), s, Bounds{Faults: 1})
	check.OK(t, err)
	for n := 1; ; n++ {
		ctx, stop := context.WithCancel(t.Context())
		p, err := Prove(ctx, s, Bounds{Faults: 1, Resume: file, Progress: func(p *Proof) {
			if p.Runs >= 40*n {
				stop()
			}
		}})
		stop()
		if err == nil {
			check.Equal(t, p.String(), whole.String())
			check.Equal(t, p.Runs, whole.Runs)
			return
		}
		if !errors.Is(err, context.Canceled) || n > whole.Runs {
			t.Fatalf("attempt %d: %v", n, err)
		}
	}
}

// TestFilesOfOtherWorkAreRefused, and so are those of other code.
func TestFilesOfOtherWorkAreRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "left")
	b := Bounds{Resume: file, Runs: 2, Work: "one"}
	_, err := Prove(t.Context(), tiny("store /x, get /y", "get /x, store /y"), b)
	check.OK(t, err)
	_, err = Prove(t.Context(), tiny("get /x, get /y", "get /x, store /y"), b)
	if err == nil || !strings.Contains(err.Error(), "choice ") {
		t.Errorf("other code: %v", err)
	}
	b.Work = "two"
	_, err = Prove(t.Context(), tiny("store /x", "get /x"), b)
	check.Contains(t, fmt.Sprint(err), "it is about one, and not about two")
	check.OK(t, os.WriteFile(file, []byte("left"), 0o666))
	_, err = Prove(t.Context(), tiny("store /x", "get /x"), b)
	check.Contains(t, fmt.Sprint(err), "expected a file that zksim prove has written")
}

// TestShardsOfAProofAreTheWhole: each class is visited in one of them. They are
// interrupted.
func TestShardsOfAProofAreTheWhole(t *testing.T) {
	t.Parallel()
	s := tiny("store /x, get /y", "get /x, store /y")
	for faults := range testrun.Pick(2, 3) {
		whole, _ := visit(t, s, Bounds{Faults: faults}, nil)
		slices.Sort(whole.classes)
		var all visited
		for _, part := range (Part{1, 3}).All() {
			file := filepath.Join(t.TempDir(), "left")
			b := Bounds{Faults: faults, Part: part, Runs: testrun.Pick(99, 999), Resume: file}
			v, _ := visit(t, s, b, func() {})
			all.classes = append(all.classes, v.classes...)
			all.runs += v.runs
			all.redundant += v.redundant
			all.plans += v.plans
			all.tried += v.tried
			all.unknown += v.unknown
		}
		slices.Sort(all.classes)
		all.views, all.undecided = whole.views, whole.undecided
		check.Equal(t, fmt.Sprint(all), fmt.Sprint(whole), "%d faults", faults)
	}
}
