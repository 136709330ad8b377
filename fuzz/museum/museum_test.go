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
	"time"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/museum"
	"github.com/zksim/zksim/linearizability"
)

var (
	full   = flag.Bool("full", false, "hunt all exhibits, and not those of the day")
	update = flag.Bool("update", false, "write the scenarios and stories of testdata anew, of the exhibits hunted")
)

// TestMain lets garbage grow, as the command does.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

var sentence = regexp.MustCompile(`^[A-Z].*\.$`)

func TestExhibitsAreDescribed(t *testing.T) {
	seen := map[string]bool{}
	known := append(linearizability.Properties(), "panic")
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

// TestNoFileWithoutExhibit: what is in testdata is somebody's.
func TestNoFileWithoutExhibit(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * len(museum.Exhibits()); len(files) != want {
		t.Errorf("%d files; want %d", len(files), want)
	}
}

// TestHunt finds exhibits from nothing but their recipes, and lets the right recipes
// survive the same hunt. Without -full each has its turn every few days, the same for
// everybody; all of its outcome but the choice is decided by the seed.
func TestHunt(t *testing.T) {
	day := int(time.Now().Unix() / (24 * 60 * 60))
	for i, e := range museum.Exhibits() {
		t.Run(e.ID, func(t *testing.T) {
			if !*full && (i+day)%every != 0 {
				t.Skip("not today; with -full")
			}
			t.Parallel()
			h, err := e.Hunt(t.Context(), 1, museum.MaxRuns)
			if err != nil {
				t.Fatal(err)
			}
			if !h.Found() {
				t.Fatalf("not found in %d scenarios, in %v", h.Runs, h.Took)
			}
			s := h.Minimal.Scenario
			t.Logf("%d scenarios, %v, shrunk in %v to %d clients, %d rounds, %v: %s", h.Runs, h.Took.Round(time.Millisecond),
				h.Shrinking.Round(time.Millisecond), s.Script.Clients, s.Script.Rounds, s.Plan, h.Minimal.Summary())
			if *update {
				write(t, e.ID, h.Minimal)
			}
			survivesHunt(t, e)
		})
	}
}

// every is in how many days an exhibit is hunted once.
const every = 8

func survivesHunt(t *testing.T, e museum.Exhibit) {
	t.Helper()
	runs := 50
	if *full {
		runs = 300
	}
	o, err := e.Survives(t.Context(), 1, runs)
	if err != nil {
		t.Fatal(err)
	}
	if o != nil {
		t.Errorf("the right recipe: %s", o.Story())
	}
}

func write(t *testing.T, id string, o *fuzz.Outcome) {
	t.Helper()
	if err := fuzz.FileOf(o).Save(scenarioOf(id)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(storyOf(id), []byte(o.Story()), 0o666); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, s fuzz.Scenario) *fuzz.Outcome {
	t.Helper()
	o, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestHuntGivesUp is the control: what is not found in so many scenarios is not said to
// be found, and a right recipe is not found at all.
func TestHuntGivesUp(t *testing.T) {
	named, err := museum.Named("B16")
	if err != nil {
		t.Fatal(err)
	}
	mended := named[0]
	mended.Wrong = mended.Right
	for _, e := range []museum.Exhibit{named[0], mended} {
		h, err := e.Hunt(t.Context(), 1, 30)
		if err != nil {
			t.Fatal(err)
		}
		if h.Found() || h.Runs != 30 {
			t.Errorf("%s: found %v, %d scenarios; want none in 30", e.Wrong.Impl, h.Found(), h.Runs)
		}
	}
}

func TestUnknownExhibitIsAnInputError(t *testing.T) {
	_, err := museum.Named("B1", "B999")
	if err == nil || !strings.HasPrefix(err.Error(), `no exhibit is called "B999"; expected one of B1, B2, `) {
		t.Errorf("error %v", err)
	}
}
