package fuzz

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// savedDir is the directory with the failures of a test.
func savedDir(t TB) string { return filepath.Join("testdata", "zksim", safeName(t.Name())) }

// saveFailure saves a violation, in a file for each property and scenario, and returns the command
// that shows it again. A file that cannot be saved is printed.
func saveFailure(ctx context.Context, t TB, o *scenario.Outcome) string {
	file, name := fileOf(t, o, cmp.Or(o.Property(), "violation"))
	again := "to see it again: " + file.Command + drawn(t, o, file.Command)
	err := file.Save(name)
	again += inSimulation(ctx, t, o)
	if err == nil {
		return again
	}
	return fmt.Sprintf("it could not be saved: %v\nthe file is to be:\n\n%s\n%s", err, file.Text(),
		again)
}

// inSimulation says what a simulation shows of a violation on an ensemble, and saves its smallest
// scenario.
func inSimulation(ctx context.Context, t TB, o *scenario.Outcome) string {
	text, first := o.Simulated()
	if text == "" {
		return ""
	}
	text = "\n" + text
	if first == nil {
		return text
	}
	small := "made small"
	if o, finished, err := hunt.Minimize(ctx, first); err != nil || !finished {
		small = "not made small"
	} else {
		first = o
	}
	file, name := fileOf(t, first, first.Property())
	file.Command = file.Test.Command("-zksim.replay=" + name)
	if file.Save(name) != nil {
		return text
	}
	return text + "\nto see it there, " + small + ": " + file.Command
}

// fileOf is the file of an outcome of a test, and its name, which begins with what it shows.
func fileOf(t TB, o *scenario.Outcome, shows string) (file saved.File, name string) {
	name = filepath.Join(savedDir(t), safeName(shows)+"-"+o.Result.Trace.Hash()[:8]+".yaml")
	file = saved.Of(o)
	file.Test = saved.TestOf(t.Name())
	file.Command = replayCommand(t, name)
	return file, name
}

// replayCommand is the command that shows a saved failure of a test again, as a shell reads it.
func replayCommand(t TB, name string) string {
	flags := []string{"-zksim.replay=" + name}
	if flagServers.On() != nil {
		flags = append(flags, "-zksim.servers="+flagServers.String())
	}
	if *flagProcesses {
		flags = append(flags, "-zksim.processes")
	}
	return saved.TestOf(t.Name()).Command(flags...)
}

// trySaved plays the saved failures of the test. It fails if one is still a violation or cannot be
// played. The file of a mended failure stays as a regression test. If its faults match nothing any
// more, the log says so.
func trySaved(t TB, w scenario.Workload) {
	t.Helper()
	if _, err := takeNotes(t, w); err != nil {
		t.Fatalf("zksim: %v", err)
	}
	names, err := savedFiles(savedDir(t))
	if err != nil {
		t.Fatalf("zksim: %v", err)
	}
	var idle, why []string
	for _, name := range names {
		warn(t, name)
		r, err := playSaved(w, name)
		if err == nil {
			err = removeCleared(name, r.Outcome.Scenario, os.Stderr)
		}
		if err != nil {
			t.Fatalf("zksim: a saved failure cannot be tried again: %v", err)
		}
		switch o := r.Outcome; {
		case o.Status() == linearizability.Violated:
			again := replayCommand(t, name)
			t.Fatalf("%s%s\nto see it again: %s%s",
				o.Story(), indented(r.Problems), again, drawn(t, o, again))
		case len(o.Result.Missed) > 0 && exists(name):
			idle = append(idle, anywhere(name))
			why = append(why, name+": "+strings.Join(r.Problems, "; "))
		case o.Status() == linearizability.Unknown:
			t.Logf("zksim: %s: the verdict is unknown: %s", name, o.Summary())
		}
	}
	if len(idle) > 0 {
		t.Logf("zksim: these saved failures test nothing any more:\n%s\nto remove them: rm %s",
			strings.Join(why, "\n"), strings.Join(idle, " "))
	}
}

// anywhere is a file name for a shell in any directory: that of a person is seldom the test's.
func anywhere(name string) string {
	if absolute, err := filepath.Abs(name); err == nil {
		name = absolute
	}
	return saved.ShellWord(name)
}

// savedFiles lists the scenario files in a directory, by name; none if there is no such directory.
func savedFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("saved failures: %w", err)
	}
	var names []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".yaml" && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names, nil
}

// playSaved plays a scenario file of one workload.
func playSaved(w scenario.Workload, name string) (*saved.Replay, error) {
	file, err := saved.Load(name, scenario.Catalogue{w}.Find)
	if err != nil {
		return nil, err
	}
	file.Scenario = file.Scenario.PlayedOn(flagServers.On())
	r, err := file.Check(false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// indented is one line for each problem.
func indented(problems []string) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "\nnot as expected: %s\n", p)
	}
	return b.String()
}

// safeName turns a name, such as that of a test, into a file name. Different names stay different:
// a slash becomes two underscores, and other unsafe bytes become an equals sign and hexadecimal
// digits. An underscore beside another one, or beside a slash, is unsafe. The end of a name that is
// too long becomes its SHA-256.
func safeName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == '/':
			b.WriteString("__")
		case c == '_' && (hasNeighbour(name, i, '_') || hasNeighbour(name, i, '/')):
			b.WriteString("=5F")
		case safeByte(c):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	if b.Len() <= maxName {
		return b.String()
	}
	return fmt.Sprintf("%s=%x", b.String()[:maxName], sha256.Sum256([]byte(name)))
}

// hashOf is a short hash of a text, for the names of files.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

// maxName is the number of bytes that are kept of a name that is too long: a file name has at most
// 255 bytes, and a hash follows.
const maxName = 150

// hasNeighbour reports whether the byte before or after the i-th is c.
func hasNeighbour(name string, i int, c byte) bool {
	return i > 0 && name[i-1] == c || i+1 < len(name) && name[i+1] == c
}

func safeByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.IndexByte("_.-#", c) >= 0
}
