package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// TestLinesAreWrappedBetweenWords, below the text of the first part. Commands and files stay whole.
func TestLinesAreWrappedBetweenWords(t *testing.T) {
	for text, want := range map[string]string{
		"short": "short",
		strings.Repeat("0123456789 ", 5): strings.Repeat("0123456789 ", 3) +
			"0123456789\n0123456789 ",
		strings.Repeat("x", 50) + " y": strings.Repeat("x", 50) + "\ny",
		"    7     0.010527s  a     aaaaaaaa bbbbbbbbb": "    7     0.010527s  a     aaaaaaaa\n" +
			strings.Repeat(" ", 22) + "bbbbbbbbb",
		"  liveness  violated  client a waits for /lock": "  liveness  violated  client a waits for\n" +
			strings.Repeat(" ", 22) + "/lock",
		"to see it again: zksim replay found/a-long-name.yaml": "to see it again: zksim replay found/a-long-name.yaml",
		"  schedule: " + strings.Repeat("7 ", 30): "  schedule: " +
			strings.Repeat("7 ", 30),
	} {
		var b strings.Builder
		out := &styled{to: &b, columns: func() int { return 44 }}
		fmt.Fprintln(out, text)
		check.Equal(t, b.String(), want+"\n")
	}
	var b strings.Builder
	out := &styled{to: &b, columns: func() int { return 0 }}
	fmt.Fprintln(out, strings.Repeat("0123456789 ", 50))
	check.Equal(t, strings.Count(b.String(), "\n"), 1)
}

// TestVerdictsAndFaultsAreColoured, and nothing else.
func TestVerdictsAndFaultsAreColoured(t *testing.T) {
	for text, want := range map[string]string{
		"liveness is violated: a waits":     red + "liveness is violated" + plain + ": a waits",
		"f.yaml: ok":                        "f.yaml" + green + ": ok" + plain,
		"f.yaml: NOT AS EXPECTED: a":        "f.yaml: " + red + "NOT AS EXPECTED" + plain + ": a",
		"  order    ok":                     green + "  order    ok" + plain,
		"    7     0.010527s  fault    cut": yellow + "    7     0.010527s  fault    cut" + plain,
		"    7     0.010527s  a        cut": "    7     0.010527s  a        cut",
	} {
		var b strings.Builder
		out := &styled{to: &b, columns: func() int { return 80 }, colours: true}
		fmt.Fprintln(out, text)
		check.Equal(t, b.String(), want+"\n")
	}
}

// TestTextIsStyledOnTerminalsOnly.
func TestTextIsStyledOnTerminalsOnly(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	check.OK(t, err)
	defer f.Close()
	if out := style(f, f); out != f {
		t.Errorf("a file is styled: %T", out)
	}
}

// TestBegunLinesAreFlushed, as a prompt has no end.
func TestBegunLinesAreFlushed(t *testing.T) {
	var b strings.Builder
	out := &styled{to: &b, columns: func() int { return 80 }}
	fmt.Fprint(out, "one\n> ")
	check.Equal(t, b.String(), "one\n")
	check.OK(t, out.Flush())
	check.Equal(t, b.String(), "one\n> ")
}
