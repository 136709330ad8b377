package gallery_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

const (
	// soon is in how many scenarios an exhibit is found that is hunted without -full.
	soon = 4
	// few is how many scenarios a right recipe has to survive without -full, least
	// how many it has to survive with it, however soon the wrong one is found.
	few, least = 15, 50
	// huntsFile says in how many scenarios each exhibit was found by the hunt that its
	// scenario comes from.
	huntsFile = "testdata/hunts.txt"
)

// TestHunt finds exhibits from nothing but their recipes, makes their scenarios small, and lets
// the right recipes survive the same hunts. All of it but the times is decided by the seed, which
// is 1. Without -full it takes a sample of each kind, and makes nothing small: the tests of hunt
// do.
func TestHunt(t *testing.T) {
	took := readHunts(t)
	chosen := sample(stories(t), took)
	if testrun.Update() {
		t.Cleanup(func() { writeHunts(t, took) })
	}
	var mu sync.Mutex
	for _, e := range stories(t) {
		if !testrun.Full() && !chosen[e.Slug] {
			continue
		}
		t.Run(e.Slug, func(t *testing.T) {
			t.Parallel()
			h := hunted(t, e)
			if testrun.Update() {
				write(t, h)
				mu.Lock()
				took[e.Slug] = h.Runs
				mu.Unlock()
			}
			survivesHunt(t, e, h.Runs)
		})
	}
}

// sample chooses of each kind the exhibit that is found soonest, and the one that is found
// soonest after the run without faults, if both are found soon.
func sample(list []gallery.Exhibit, took map[string]int) map[string]bool {
	type choice struct {
		kind   string
		faults bool
	}
	soonest := map[choice]string{}
	for _, e := range list {
		n, known := took[e.Slug]
		if !known || n > soon {
			continue
		}
		c := choice{e.Kind, n > 1}
		if best, ok := soonest[c]; !ok || n < took[best] {
			soonest[c] = e.Slug
		}
	}
	chosen := map[string]bool{}
	for _, slug := range soonest {
		chosen[slug] = true
	}
	return chosen
}

func hunted(t *testing.T, e gallery.Exhibit) gallery.Hunted {
	t.Helper()
	search := testrun.Pick(e.Find, e.Hunt)
	if testrun.Update() {
		search = e.Hunt
	}
	h, err := search(t.Context(), 1, gallery.MaxRuns)
	check.OK(t, err)
	if !h.Found() {
		t.Fatalf("not found in %d scenarios, in %v", h.Runs, h.Took)
	}
	s := h.Minimal.Scenario
	t.Logf("%d scenarios, %v, shrunk in %v to %d clients, %d rounds, %v: %s", h.Runs,
		h.Took.Round(time.Millisecond),
		h.Shrinking.Round(time.Millisecond), s.Script.Clients, s.Script.Rounds, s.Plan,
		h.Minimal.Summary())
	return h
}

// survivesHunt lets the right recipe survive the hunt by which the wrong one was found
// after so many scenarios.
func survivesHunt(t *testing.T, e gallery.Exhibit, runs int) {
	t.Helper()
	o, err := e.Survives(t.Context(), 1, testrun.Pick(few, max(runs, least)))
	check.OK(t, err)
	if o != nil {
		t.Errorf("the right recipe: %s", o.Story())
	}
}

// write writes the scenario and the story.
func write(t *testing.T, h gallery.Hunted) {
	t.Helper()
	check.OK(t, saved.Of(h.Minimal).Save(scenarioOf(h.Exhibit.Slug)))
	testrun.WriteFile(t, storyOf(h.Exhibit.Slug), withoutLines(h.Minimal.Story()))
}

// readHunts reads the list of hunts: a line for each, an id and a number.
func readHunts(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(huntsFile)
	if err != nil && !(testrun.Update() && errors.Is(err, fs.ErrNotExist)) {
		t.Fatal(err)
	}
	took := map[string]int{}
	for line := range bytes.Lines(text) {
		var id string
		var runs int
		if _, err := fmt.Sscanf(string(line), "%s %d\n", &id, &runs); err != nil {
			t.Fatalf("%s: %q: %v", huntsFile, line, err)
		}
		took[id] = runs
	}
	return took
}

// writeHunts writes it, in the order of the exhibits.
func writeHunts(t *testing.T, took map[string]int) {
	t.Helper()
	var text bytes.Buffer
	for _, e := range stories(t) {
		if n, known := took[e.Slug]; known {
			fmt.Fprintln(&text, e.Slug, n)
		}
	}
	testrun.WriteFile(t, huntsFile, text.String())
}

// TestHuntGivesUp is the control: what is not found in so many scenarios is not said to
// be found, and a right recipe is not found at all.
func TestHuntGivesUp(t *testing.T) {
	named, err := gallery.Named("B12")
	check.OK(t, err)
	mended := named[0]
	mended.Wrong = mended.Right
	for _, e := range []gallery.Exhibit{named[0], mended} {
		h, err := e.Hunt(t.Context(), 1, 30)
		check.OK(t, err)
		if h.Found() || h.Runs != 30 {
			t.Errorf("%s: found %v, %d scenarios; want none in 30", e.Wrong.Impl, h.Found(), h.Runs)
		}
	}
}
