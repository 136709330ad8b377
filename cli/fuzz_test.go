package cli

import (
	"io"
	"slices"
	"testing"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fuzz"
)

// finding is a violation of a built-in workload by a plan of one fault.
func finding(t *testing.T, runs int, workload, impl, fault string) fuzz.Finding {
	t.Helper()
	w, err := fuzz.Find(workload, impl)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fakezk.ParseFault(fault)
	if err != nil {
		t.Fatal(err)
	}
	o, err := fuzz.Scenario{Workload: w, Script: fuzz.Script{Clients: 2, Rounds: 1}, Seed: 1, Plan: []fakezk.Fault{f}}.Run()
	if err != nil {
		t.Fatal(err)
	}
	return fuzz.Finding{Outcome: o, Strategy: "test", Runs: runs}
}

// TestFindingsThatBecomeTheSameAreOne, and only those.
func TestFindingsThatBecomeTheSameAreOne(t *testing.T) {
	a, err := program{name: "zksim"}.app(t.Context(), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	small, err := makeSmall(a, []fuzz.Finding{
		finding(t, 1, "lock", "zk.Lock", "drop-request client=a op=getChildren2 request=1"),
		finding(t, 2, "queue", "recipes.ApacheQueue", "drop-reply client=b op=delete request=1"),
		finding(t, 3, "lock", "zk.Lock", "drop-reply client=b op=getChildren2 request=1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	var properties []string
	var runs []int
	for _, f := range small {
		properties = append(properties, f.Property())
		for _, by := range f.by {
			runs = append(runs, by.Runs)
		}
	}
	if !slices.Equal(properties, []string{"liveness", "delivery"}) || !slices.Equal(runs, []int{1, 3, 2}) {
		t.Errorf("findings of %q after %v scenarios; want liveness after 1 and 3, delivery after 2", properties, runs)
	}
}

func TestBudgetIsUsedUp(t *testing.T) {
	left, shares := budget{runs: 20}, []int{}
	for n := 6; n > 0; n-- {
		runs := left.share(n).runs
		shares = append(shares, runs)
		left.runs -= min(runs, 3) // the first ones find something early
	}
	if want := []int{3, 3, 3, 3, 4, 5}; !slices.Equal(shares, want) {
		t.Errorf("shares %v; want %v", shares, want)
	}
}
