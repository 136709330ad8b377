package inflight

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

func everything([]byte) bool { return true }

func text(s string) func() []byte { return func() []byte { return []byte(s) } }

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check.OK(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), crashPrefix) || strings.HasPrefix(e.Name(), runsPrefix) {
			continue
		}
		names = append(names, e.Name())
	}
	return names
}

// TestAChannelOfAnotherRunIsToldFromOtherDeaths by the stack that the runtime writes.
func TestAChannelOfAnotherRunIsToldFromOtherDeaths(t *testing.T) {
	const header = "\ngoroutine 80 [running, synctest bubble 2]:\n"
	for said, want := range map[string]bool{
		header + "example.com/zk.(*Conn).request(0x27)\n\tconn.go:915\n":                      true,
		header + "example.com/own.call(0x27)\n\town.go:9\n":                                   true,
		header + "runtime.fatal({0x1})\n\tpanic.go:1\nruntime.selectgo(0x3)\n\tselect.go:1\n": true,
		header + "runtime.fatal({0x1})\n\tpanic.go:1\ninternal/runtime/maps.fatal(0x3)\n":     false,
		header + "internal/runtime/maps.fatal({0x1})\n\tpanic.go:1\nmain.die(0x3)\n":          false,
		header + "runtime.throw({0x1})\n\tpanic.go:1\nruntime.mallocgc(0x3)\n\tmalloc.go:1\n": false,
		header + "sync.fatal({0x1})\n\tpanic.go:1\nsync.(*Mutex).unlockSlow(0x3)\n":           false,
		"panic: lost\n" + header + "main.die.func1()\n\tmain.go:32\n":                         false,
		"": false,
	} {
		check.Equal(t, isAcrossRuns(said), want, "%q", said)
	}
}

// TestTheRunsAreNumbered in the words about a connection of another run.
func TestTheRunsAreNumbered(t *testing.T) {
	for begun, want := range map[string]string{
		"": "", "1": beforeRuns, "2": " (made in run 1, used in run 2)",
		"12": " (used in one of the runs 2 to 12)",
	} {
		check.Equal(t, whichRuns(begun), want)
	}
}

func TestNotesGoWithTheirWork(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "a", "b")
	Note(text("before"))()
	stop, err := Keep(dir)
	check.OK(t, err)
	again, err := Keep(t.TempDir())
	check.OK(t, err)
	first, second := Note(text("one")), Note(text("two"))
	first()
	Note(text("three"))()
	if got := files(t, dir); len(got) != 2 {
		t.Errorf("files %q; want two", got)
	}
	if notes, err := Take(dir, everything); len(notes) > 0 || err != nil {
		t.Errorf("notes %q of this process, %v; want none", notes, err)
	}
	again()
	second()
	stop()
	stop()
	if got := files(t, root); len(got) > 0 {
		t.Errorf("left: %q", got)
	}
	Note(text("after"))()
}

// TestNotesOfAnEndedProcessAreTaken, once.
func TestNotesOfAnEndedProcessAreTaken(t *testing.T) {
	dir := t.TempDir()
	const ended = 1 << 30 // no process has this number
	for name, text := range map[string]string{
		"-0": "one", "-1": "", "-2": "two",
	} {
		name = filepath.Join(dir, prefix+strconv.Itoa(ended)+name)
		check.OK(t, os.WriteFile(name, []byte(text), 0o666))
	}
	if notes, err := Take(dir, func([]byte) bool { return false }); len(notes) > 0 || err != nil {
		t.Errorf("notes %q, %v; want none", notes, err)
	}
	notes, err := Take(dir, everything)
	if err != nil || len(notes) != 2 || string(notes[0]) != "one" || string(notes[1]) != "two" {
		t.Errorf("notes %q, %v; want one and two", notes, err)
	}
	if got := files(t, dir); len(got) > 0 {
		t.Errorf("left: %q", got)
	}
}
