package gallery_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

func TestMain(m *testing.M) { testrun.Main(m) }

// stories are the exhibits that have one.
func stories(t *testing.T) []gallery.Exhibit {
	t.Helper()
	list, err := gallery.Named()
	check.OK(t, err)
	return list
}

var sentence = regexp.MustCompile(`^[A-Z].*\.$`)

func TestExhibitsAreDescribed(t *testing.T) {
	seen := map[string]bool{}
	known := append(linearizability.Properties(), "panic", scenario.InvariantProperty)
	for _, e := range gallery.Exhibits() {
		address, err := url.Parse(e.Link)
		switch {
		case seen[e.Slug], e.Alias != "" && seen[e.Alias]:
			t.Errorf("%s: there are two", e.Slug)
		case e.Published() && (err != nil || address.Scheme != "https" || address.Host == ""):
			t.Errorf("%s: link %q: expected a URL", e.Slug, e.Link)
		case e.HasStory() && (e.Published() != (e.Remark == "") || !sentence.MatchString(e.Bug)):
			t.Errorf("%s: source %q, remark %q, bug %q", e.Slug, e.Source, e.Remark, e.Bug)
		case e.Title == "" || !slices.Contains(known, e.Property):
			t.Errorf("%s: title %q, property %q: expected one of %q", e.Slug, e.Title, e.Property,
				known)
		}
		seen[e.Slug], seen[e.Alias] = true, true
	}
	for _, m := range gallery.Absent() {
		if seen[m.ID] || m.Why == "" || m.Report == "" {
			t.Errorf("absent %+v: expected a reason, a report, and no exhibit", m)
		}
	}
}

// TestTrackRecordCountsTheExhibits: the numbers of its page.
func TestTrackRecordCountsTheExhibits(t *testing.T) {
	n := map[string]int{}
	for _, e := range gallery.Exhibits() {
		switch {
		case e.Published():
			n["published"]++
		default:
			n[string(e.Source)]++
		}
	}
	page := testrun.ReadFile(t, "../../docs/track-record.md")
	for _, m := range regexp.MustCompile(`(?m)^\| (published|ours|planted) \| .* \| (\d+) \|$`).
		FindAllStringSubmatch(page, -1) {
		check.Equal(t, m[2], fmt.Sprint(n[m[1]]), m[1])
		delete(n, m[1])
	}
	check.Equal(t, len(n), 0, "sources without a row: %v", n)
	check.Contains(t, page, fmt.Sprintf("hunts the %d exhibits", len(stories(t))))
}

// scenarioOf and storyOf name the files of an exhibit.
func scenarioOf(slug string) string { return filepath.Join("testdata", slug+".yaml") }
func storyOf(slug string) string    { return filepath.Join("testdata", slug+".txt") }

// sourceLine is a place in a source file, as a stack has it.
var sourceLine = regexp.MustCompile(`(\w+\.go):\d+`)

// withoutLines leaves out of a story the numbers of source lines, which change whenever
// a file does.
func withoutLines(story string) string { return sourceLine.ReplaceAllString(story, "$1") }

// TestScenariosStillShow: the smallest scenario of each exhibit violates its property, to the byte
// of its trace, its story is the same, and the right recipe survives it. With -update, traces and
// stories are written anew; an exhibit whose scenario shows the property no more is hunted by
// TestHunt.
func TestScenariosStillShow(t *testing.T) {
	for _, e := range stories(t) {
		t.Run(e.Slug, func(t *testing.T) {
			t.Parallel()
			file, err := saved.Load(scenarioOf(e.Slug), gallery.Catalogue().Find)
			if errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("no scenario; go test ./fuzz/gallery -run Hunt/%s -full -update hunts one",
					e.Slug)
			}
			check.OK(t, err)
			if file.Scenario.Workload.Impl != e.Slug || file.Property != e.Property ||
				file.Trace == "" {
				t.Errorf("the scenario is one of %s for %q; want %s for %q, with its trace",
					file.Scenario.Workload.Impl, file.Property, e.Slug, e.Property)
			}
			r, err := file.Check(true)
			check.OK(t, err)
			if testrun.Update() && r.Outcome.Property() == e.Property {
				write(t, gallery.Hunted{Exhibit: e, Minimal: r.Outcome})
				return
			}
			for _, p := range r.Problems {
				t.Error(p)
			}
			check.Diff(t, withoutLines(r.Outcome.Story()), testrun.ReadFile(t, storyOf(e.Slug)))
			mended := file.Scenario
			mended.Workload = e.Right
			fuzztest.Holds(t, mended)
		})
	}
}

// TestNoFileWithoutExhibit: a file in testdata belongs to an exhibit, or is the list of hunts.
func TestNoFileWithoutExhibit(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	check.OK(t, err)
	if want := 2*len(stories(t)) + 1; len(files) != want {
		t.Errorf("%d files; want %d: two for each published exhibit, and the list", len(files), want)
	}
}

func run(t *testing.T, s scenario.Scenario) *scenario.Outcome {
	t.Helper()
	o, err := s.Run()
	check.OK(t, err)
	return o
}

func TestUnknownExhibitIsAnInputError(t *testing.T) {
	_, err := gallery.Named("B1", "session-before-sequence", "B999")
	if err == nil || !strings.HasPrefix(err.Error(), `no exhibit is called "B999"`) {
		t.Errorf("error %v", err)
	}
	_, err = gallery.Named("session-before-sequense")
	if err == nil || !strings.Contains(err.Error(), "(did you mean session-before-sequence?)") {
		t.Errorf("error %v", err)
	}
}
