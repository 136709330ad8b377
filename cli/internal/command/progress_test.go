package command

import (
	"strings"
	"testing"
	"time"
)

// TestProgressStaysOnOneRow of a terminal, at any length of the line, and is removed completely.
func TestProgressStaysOnOneRow(t *testing.T) {
	var out strings.Builder
	p := &Progress{
		out: &out, columns: func() int { return 40 }, start: time.Now().Add(-time.Minute),
	}
	p.Show("3/31 recipes.Lock: %d scenarios, %s", 12345, strings.Repeat("é", 100))
	if got, want := out.String(), "\r3/31 recipes.Lock: 12345 scenarios, ééé"; got != want {
		t.Errorf("shown: %q; want %q", got, want)
	}
	out.Reset()
	p.shown = time.Time{}
	p.Show("short")
	if got, want := out.String(), "\rshort"+strings.Repeat(" ", 34); got != want {
		t.Errorf("shown: %q; want %q", got, want)
	}
	out.Reset()
	p.Clear()
	if got, want := out.String(), "\r     \r"; got != want {
		t.Errorf("cleared by %q; want %q", got, want)
	}
	out.Reset()
	p.Clear()
	if out.Len() > 0 {
		t.Errorf("%q clears a line that is not there", out.String())
	}
}

// TestProgressIsShownWhole where the width of the terminal is not known.
func TestProgressIsShownWhole(t *testing.T) {
	var out strings.Builder
	p := &Progress{out: &out, columns: func() int { return 0 }, start: time.Now().Add(-time.Minute)}
	line := strings.Repeat("x", 200)
	if p.Show("%s", line); out.String() != "\r"+line {
		t.Errorf("shown: %q", out.String())
	}
}

// TestPhasesAreShownAtOnce, even right after another line, as the next one may come much later.
// Periodic lines wait.
func TestPhasesAreShownAtOnce(t *testing.T) {
	var out strings.Builder
	p := &Progress{out: &out, columns: func() int { return 0 }, start: time.Now().Add(-time.Minute)}
	p.Show("32 scenarios")
	p.Show("33 scenarios")
	p.Phase("making it small")
	if got, want := out.String(), "\r32 scenarios\rmaking it small"; got != want {
		t.Errorf("shown: %q; want %q", got, want)
	}
}
