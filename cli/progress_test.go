package cli

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/hunt"
)

// TestProgressStaysOnOneRow of a terminal, at any length of the line, and is removed completely.
func TestProgressStaysOnOneRow(t *testing.T) {
	var out strings.Builder
	p := &progress{
		out: &out, columns: func() int { return 40 }, start: time.Now().Add(-time.Minute),
	}
	p.show("3/31 recipes.Lock: %d scenarios, %s", 12345, strings.Repeat("é", 100))
	if got, want := out.String(), "\r3/31 recipes.Lock: 12345 scenarios, ééé"; got != want {
		t.Errorf("shown: %q; want %q", got, want)
	}
	out.Reset()
	p.shown = time.Time{}
	p.show("short")
	if got, want := out.String(), "\rshort"+strings.Repeat(" ", 34); got != want {
		t.Errorf("shown: %q; want %q", got, want)
	}
	out.Reset()
	p.clear()
	if got, want := out.String(), "\r     \r"; got != want {
		t.Errorf("cleared by %q; want %q", got, want)
	}
	out.Reset()
	p.clear()
	if out.Len() > 0 {
		t.Errorf("%q clears a line that is not there", out.String())
	}
}

// TestProgressIsShownWhole where the width of the terminal is not known.
func TestProgressIsShownWhole(t *testing.T) {
	var out strings.Builder
	p := &progress{out: &out, columns: func() int { return 0 }, start: time.Now().Add(-time.Minute)}
	line := strings.Repeat("x", 200)
	if p.show("%s", line); out.String() != "\r"+line {
		t.Errorf("shown: %q", out.String())
	}
}

// TestPhasesAreShownAtOnce, even right after another line, as the next one may come much later.
// Periodic lines wait.
func TestPhasesAreShownAtOnce(t *testing.T) {
	var out strings.Builder
	p := &progress{out: &out, columns: func() int { return 0 }, start: time.Now().Add(-time.Minute)}
	p.show("32 scenarios")
	p.show("33 scenarios")
	p.phase("making it small")
	if got, want := out.String(), "\r32 scenarios\rmaking it small"; got != want {
		t.Errorf("shown: %q; want %q", got, want)
	}
}

// TestShrinkingIsShown: it takes most of the time of many hunts.
func TestShrinkingIsShown(t *testing.T) {
	var out strings.Builder
	p := &progress{out: &out, columns: func() int { return 0 }, start: time.Now()}
	a := &app{ctx: t.Context(), out: io.Discard, progress: p}
	p.phase("at work")
	if _, err := makeSmall(a, []hunt.Finding{
		finding(t, 1, "lock", "zk.Lock", "drop-request client=a op=getChildren2 request=1"),
	}); err != nil {
		t.Error(err)
	}
	exhibits, err := gallery.Named("B3")
	if err == nil {
		err = (&galleryCommand{Seeds: 1, Seed: 1, Runs: 100}).hunt(a, exhibits)
	}
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"\rmaking finding 1 of 1 small", "\rminus-sign-cut-off: exhibit 1 of 1, hunt 1 of 1\r",
		"\rminus-sign-cut-off: exhibit 1 of 1, hunt 1 of 1: making it small after 1 scenario",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q; want %q", out.String(), want)
		}
	}
}
