package builtin_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
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
		t.Errorf("%d files, %d scenarios; go test ./fuzz/builtin -run TestCorpus -update "+
			"writes the files", len(files), len(corpus))
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) {
			file, err := saved.Load(name, builtin.Workloads().Find)
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
		s := scenario.Scenario{
			Workload: fuzztest.Builtin(t, c.workload, c.impl), Script: c.script,
			Plan: plan(t, c.faults...),
		}
		shows := regexp.MustCompile(c.shows)
		for s.Seed = c.seed; ; s.Seed++ {
			o := run(t, s)
			violated := !strings.Contains(c.name, "survives")
			told := o.Story() + strings.Join(o.Measurements(), "\n")
			switch {
			case violated == (o.Property() != "") && shows.MatchString(told):
				file := filepath.Join("testdata", "scenarios", c.name+".yaml")
				if err := saved.Of(o).Save(file); err != nil {
					t.Fatal(err)
				}
			case !violated && o.Property() != "" || s.Seed > c.seed+200:
				t.Fatalf("%s: property violated: %q; %q is expected in:\n%s", c.name, o.Property(),
					c.shows, told)
			default:
				continue
			}
			break
		}
	}
}
