package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// benchOutput is an excerpt of go test -bench.
const benchOutput = `goos: linux
cpu: Some Processor
BenchmarkScenario/lock/faults 	 292	 3711345 ns/op	 115 requests/run	 269 scenarios/s
BenchmarkScenario/lock/faults/tuned 	292	3711345 ns/op	115 requests/run	281 scenarios/s
BenchmarkHunt/lock/recipes.Lock 	 150	 340 scenarios/s	 6300 virtual-s/s
BenchmarkHunt/lock/recipes.Lock-2 	 150	 679 scenarios/s	 12600 virtual-s/s
PASS
`

func TestBenchmarksAreRead(t *testing.T) {
	results, err := parseBench(benchOutput)
	check.OK(t, err)
	if x, err := metric(results, "Scenario/lock/faults", "scenarios/s"); err != nil || x != 269 {
		t.Errorf("%v, %v; expected 269", x, err)
	}
	if x, err := metric(results, "Scenario/lock/faults", "B/op"); err == nil {
		t.Errorf("%v; expected an error, as the unit is not there", x)
	}
	want := "| workload | implementation | one core | two cores | virtual s per s |\n" +
		"|---|---:|---:|---:|---:|\n| lock | `recipes.Lock` | 340 | 679 | 6,300 |\n"
	if got := huntTable(results[2:]); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	want = "| workload | faults | scenarios/s | tuned | requests each |\n" +
		"|---|---:|---:|---:|---:|\n| lock | up to 4 | 269 | 281 | 115 |\n"
	if got := scenarioTable(results[:2]); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	if results, err := parseBench("PASS\n"); err == nil {
		t.Errorf("%v; expected an error, as nothing was measured", results)
	}
}

func TestOnlyLeavesOfPassedTestsCount(t *testing.T) {
	passed, err := passedSubtests(`{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA/x/one"}
{"Action":"pass","Package":"p","Test":"TestA/x"}
{"Action":"fail","Package":"p","Test":"TestA/y"}
{"Action":"skip","Package":"p","Test":"TestA/z"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}
`)
	if err != nil || !slices.Equal(passed, []string{"p.TestA/x/one"}) {
		t.Errorf("%v, %v; expected one test", passed, err)
	}
}

// TestFindingsAreCounted: zksim fuzz prints a list for one workload, a number for all.
func TestFindingsAreCounted(t *testing.T) {
	for text, want := range map[string]findings{
		`{"findings": 3}`: 3, `{"findings": []}`: 0, `{"findings": [{}, {"a": 1}]}`: 2,
	} {
		var h huntOutput
		if err := json.Unmarshal([]byte(text), &h); err != nil || h.Findings != want {
			t.Errorf("%s: %d, %v; expected %d", text, h.Findings, err, want)
		}
	}
}

func TestSpreadIsOfTheExhibitsThatWereFound(t *testing.T) {
	var h galleryOutput
	text := `{"exhibits": [{"found": 1, "runs": 7}, {"found": 1, "runs": 1}, {"runs": 1000}]}`
	check.OK(t, json.Unmarshal([]byte(text), &h))
	if found, runs := h.spread(); found != 2 || runs != "1 / 7 / 7" {
		t.Errorf("%d, %s; expected 2, 1 / 7 / 7", found, runs)
	}
}

func TestCommandsAreQuotedAsAShellTakesThem(t *testing.T) {
	want := "go test ./fuzz -run '^$' -bench 'Share|Echo'"
	check.Equal(t, "go "+quoted(benchCommand("./fuzz", "Share|Echo")...), want)
}
