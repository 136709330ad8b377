package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/zksim/zksim/bench/internal/figure"
	"github.com/zksim/zksim/internal/check"
)

func TestRenewingASectionKeepsTheOthers(t *testing.T) {
	p := page{}
	p.set("speed", "fast\n\n| a |\n|---|\n| 1 |")
	p.set("start", "soon")
	again, err := parsePage(p.String())
	check.OK(t, err)
	again.set("start", "sooner\n")
	want := strings.Replace(p.String(), "soon\n", "sooner\n", 1)
	if got := again.String(); got != want {
		t.Errorf("the page is now\n%s\nexpected\n%s", got, want)
	}
}

func TestSectionThatWouldBeLostIsAnError(t *testing.T) {
	if p, err := parsePage(intro + "\n## Taste\n\nGood.\n"); err == nil {
		t.Errorf("an unknown section was taken: %v", p)
	}
}

// TestPageOfTheRepositoryIsOne: docs/measurements.md was written by this command.
func TestPageOfTheRepositoryIsOne(t *testing.T) {
	const file = "../../docs/measurements.md"
	p, err := readPage(file)
	check.OK(t, err)
	text, err := os.ReadFile(file)
	check.OK(t, err)
	if p.String() != string(text) {
		t.Errorf("%s would be written differently; expected\n%s", file, p)
	}
	for _, s := range sections {
		if p[s.name] == "" {
			t.Errorf("%s has no section %q", file, s.title)
		}
	}
}

func TestFlagsChooseSections(t *testing.T) {
	for _, c := range []struct {
		flags   flags
		all     bool
		include string
		exclude string
	}{
		{flags{}, false, "speed", "real"},
		{flags{Only: []string{"real"}}, false, "real", "speed"},
		{flags{All: true}, true, "real", ""},
	} {
		chosen, err := c.flags.chosen()
		check.OK(t, err)
		names := " "
		for _, s := range chosen {
			names += s.name + " "
		}
		if !strings.Contains(names, " "+c.include+" ") ||
			c.exclude != "" && strings.Contains(names, " "+c.exclude+" ") {
			t.Errorf("%+v: %s", c.flags, names)
		}
		if all := len(chosen) == len(sections); all != c.all {
			t.Errorf("%+v: %d sections", c.flags, len(chosen))
		}
	}
	if _, err := (&flags{Only: []string{"sped"}}).chosen(); err == nil {
		t.Error("an unknown section was taken")
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"--only", "speed", "--all"}, {"--onyl", "speed"}} {
		var out bytes.Buffer
		if err := run(t.Context(), &out, &out, args); err == nil {
			t.Errorf("%q was taken; expected an error", args)
		}
	}
}

func TestListNamesEverySection(t *testing.T) {
	var out bytes.Buffer
	check.OK(t, run(t.Context(), &out, &out, []string{"--list"}))
	for _, s := range sections {
		if !strings.Contains(out.String(), s.name+" ") {
			t.Errorf("%s is missing in\n%s", s.name, out.String())
		}
	}
}

func TestParagraphsAreWrapped(t *testing.T) {
	words := strings.Repeat("word ", 30)
	got := paragraph("%s`some code that stays on one line`\n  end.", words)
	for line := range strings.Lines(got) {
		if len(line) > figure.Width+1 && !strings.Contains(line, "`") {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if !strings.HasSuffix(got, "`some code that stays on one line` end.\n") {
		t.Errorf("got %q", got)
	}
}
