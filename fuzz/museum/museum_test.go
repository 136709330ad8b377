package museum_test

import (
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/museum"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var (
	full   = flag.Bool("full", false, "hunt all exhibits, and not only those that are found soon")
	update = flag.Bool("update", false, "write what is in testdata anew, of the exhibits hunted")
)

// TestMain lets garbage grow, as the command does.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

var sentence = regexp.MustCompile(`^[A-Z].*\.$`)

func TestExhibitsAreDescribed(t *testing.T) {
	seen := map[string]bool{}
	known := append(linearizability.Properties(), "panic", scenario.InvariantProperty)
	for _, e := range museum.Exhibits() {
		switch address, err := url.Parse(e.Report); {
		case seen[e.ID]:
			t.Errorf("%s: there are two", e.ID)
		case err != nil || address.Scheme != "https" || address.Host == "":
			t.Errorf("%s: report %q: expected a URL", e.ID, e.Report)
		case e.Title == "" || !sentence.MatchString(e.Bug):
			t.Errorf("%s: title %q, bug %q: expected words, and sentences", e.ID, e.Title, e.Bug)
		case !slices.Contains(known, e.Property):
			t.Errorf("%s: property %q: expected one of %q", e.ID, e.Property, known)
		}
		seen[e.ID] = true
	}
	for _, m := range museum.Absent() {
		if seen[m.ID] || m.Why == "" || m.Report == "" {
			t.Errorf("absent %+v: expected a reason, a report, and no exhibit", m)
		}
	}
}

// scenarioOf and storyOf name the files of an exhibit.
func scenarioOf(id string) string { return filepath.Join("testdata", id+".yaml") }
func storyOf(id string) string    { return filepath.Join("testdata", id+".txt") }

// TestScenariosStillShow: the smallest scenario of each exhibit violates what it did,
// to the byte of its trace, its story is the same, and the right recipe survives it.
func TestScenariosStillShow(t *testing.T) {
	for _, e := range museum.Exhibits() {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			file, err := museum.Catalogue().Load(scenarioOf(e.ID))
			if err != nil {
				t.Fatal(err)
			}
			if file.Scenario.Workload.Impl != e.ID || file.Property != e.Property || file.Trace == "" {
				t.Errorf("the scenario is one of %s for %q; want %s for %q, with its trace", file.Scenario.Workload.Impl, file.Property, e.ID, e.Property)
			}
			r, err := file.Check(true)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Problems {
				t.Error(p)
			}
			if story, err := os.ReadFile(storyOf(e.ID)); err != nil {
				t.Error(err)
			} else if got := r.Outcome.Story(); got != string(story) {
				t.Errorf("the story is another:\n%s", got)
			}
			mended := file.Scenario
			mended.Workload = e.Right
			if o := run(t, mended); o.Status() != linearizability.OK {
				t.Errorf("the right recipe: %s", o.Story())
			}
		})
	}
}

// TestNoFileWithoutExhibit: what is in testdata is somebody's, or the list of hunts.
func TestNoFileWithoutExhibit(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	if want := 2*len(museum.Exhibits()) + 1; len(files) != want {
		t.Errorf("%d files; want %d", len(files), want)
	}
}

func run(t *testing.T, s scenario.Scenario) *scenario.Outcome {
	t.Helper()
	o, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestUnknownExhibitIsAnInputError(t *testing.T) {
	_, err := museum.Named("B1", "B999")
	if err == nil || !strings.HasPrefix(err.Error(), `no exhibit is called "B999"; expected one of B1, B2, `) {
		t.Errorf("error %v", err)
	}
}
