package fuzz_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz"
)

// corpus are the scenarios of testdata/scenarios: the published bugs, each made
// small, and such accidents to recipes that survive them. shows is a piece of the
// story or of what is measured, without which the accident is not the one that
// the name tells of.
var corpus = []struct {
	name, workload, impl string
	script               fuzz.Script
	faults               []string
	shows                string
}{
	{"zk-lock-waits-for-itself", "lock", "zk.Lock", fuzz.Script{Clients: 1, Rounds: 1}, []string{"drop-request client=a op=getChildren2 request=1"}, "which belongs to a's own session"},
	{"apache-queue-loses-an-element", "queue", "recipes.ApacheQueue", fuzz.Script{Clients: 1, Rounds: 1}, []string{"drop-reply client=a op=delete request=1"}, "is lost"},
	{"lock-survives-lost-connections", "lock", "recipes.Lock", fuzz.Script{Clients: 3, Rounds: 2}, []string{
		"drop-request client=a op=getChildren2 request=1", "drop-reply client=b op=create request=1", "late-reap 3s client=c op=getData request=1",
	}, "is told: session-expired"},
	{"queue-survives-lost-replies", "queue", "recipes.Queue", fuzz.Script{Clients: 3, Rounds: 2}, []string{
		"drop-reply client=a op=multi request=1", "drop-reply client=b op=multi request=2", "expire client=c request=5",
	}, "expires session"},
	{"lock-survives-lost-reply-to-its-create", "lock", "recipes.Lock", fuzz.Script{Clients: 2, Rounds: 1}, []string{
		"drop-reply client=a op=create request=1",
	}, "hits a's #1 create /lock/_c_G2-lock-"},
	{"lock-survives-expiry-while-it-waits", "lock", "recipes.Lock", fuzz.Script{Clients: 2, Rounds: 1}, []string{
		"expire client=a at=30ms", "expire client=b at=35ms",
	}, "zombie window: b could not know for"},
	{"queue-survives-lost-reply-to-its-multi", "queue", "recipes.Queue", fuzz.Script{Clients: 2, Rounds: 1}, []string{
		"drop-reply client=a op=multi request=2", "drop-reply client=b op=multi request=1",
	}, "hits b's #11 multi /queue/claims/G3"},
	{"herd-lock-survives-late-reap", "lock", "recipes.HerdLock", fuzz.Script{Clients: 3, Rounds: 1}, []string{
		"late-reap 3s client=b request=4",
	}, "hits b's #4 getData /lock/herd"},
}

// TestCorpus: every scenario file comes out as recorded, to the byte of its
// trace. After a change that is meant to change traces run it with -update.
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
			file, err := fuzz.LoadScenario(name)
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

// writeCorpus writes the files anew. What they expect is what the names say: a
// scenario that survives must, and a bug must still be there.
func writeCorpus(t *testing.T) {
	t.Helper()
	for _, c := range corpus {
		o := run(t, fuzz.Scenario{Workload: builtin(t, c.workload, c.impl), Script: c.script, Seed: 1, Plan: plan(t, c.faults...)})
		if survives := strings.Contains(c.name, "survives"); survives != (o.Property() == "") {
			t.Fatalf("%s: property violated: %q\n%s", c.name, o.Property(), o.Story())
		}
		if told := o.Story() + strings.Join(o.Measurements(), "\n"); !strings.Contains(told, c.shows) {
			t.Fatalf("%s: %q is not in:\n%s", c.name, c.shows, told)
		}
		if err := fuzz.FileOf(o).Save(filepath.Join("testdata", "scenarios", c.name+".yaml")); err != nil {
			t.Fatal(err)
		}
	}
}
