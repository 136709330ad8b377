package object_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
)

// TestCorpus: every scenario file has the recorded outcome, to the byte of its trace. After a
// deliberate change of traces run it with -update.
func TestCorpus(t *testing.T) {
	if *update {
		writeCorpus(t)
	}
	files, err := filepath.Glob("testdata/scenarios/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(corpus) {
		t.Errorf("%d files; want %d", len(files), len(corpus))
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) {
			file, err := saved.Load(name, object.Workloads().Find)
			if err != nil {
				t.Fatal(err)
			}
			if file.Trace == "" {
				t.Error("no trace is recorded")
			}
			r, err := file.Check(true)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Problems {
				t.Error(p)
			}
		})
	}
}

// writeCorpus writes the files anew. The name of a scenario is its expected outcome: one that
// "survives" must not be violated, and any other must be.
func writeCorpus(t *testing.T) {
	t.Helper()
	for _, c := range corpus {
		o := run(t, scenario.Scenario{
			Workload: builtin(t, c.workload, c.impl), Script: c.script, Seed: c.seed,
			Plan: plan(t, c.faults...),
		})
		if survives := strings.Contains(c.name, "survives"); survives != (o.Property() == "") {
			t.Fatalf("%s: property violated: %q\n%s", c.name, o.Property(), o.Story())
		}
		told := o.Story() + strings.Join(o.Measurements(), "\n")
		if !strings.Contains(told, c.shows) {
			t.Fatalf("%s: %q is not in:\n%s", c.name, c.shows, told)
		}
		if err := saved.Of(o).Save(
			filepath.Join("testdata", "scenarios", c.name+".yaml"),
		); err != nil {
			t.Fatal(err)
		}
	}
}
