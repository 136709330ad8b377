package fuzz

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/inflight"
)

// A test keeps notes of the scenarios under way in testdata/zksim, and removes them when it ends.
// If the code under test ends the process, they stay, and are printed on standard error. The next
// test makes a file left-HASH.yaml of each note, and plays these files first, one after the other.
// A file that passes is removed. If the process ends again, the file under way is the one to blame:
// the test after that renames it to crash-HASH.yaml.

// notesDir is the directory of the notes of all tests.
var notesDir = saved.NotesDir

const (
	leftPrefix  = "left-"
	crashPrefix = saved.Crash + "-"
)

// keepNotes keeps notes until stop is called. A test in a directory that cannot be written to has
// none.
func keepNotes(t TB) (stop func()) {
	logEarlier(t)
	stop, err := inflight.KeepAnnounced(notesDir)
	if err != nil {
		return func() {}
	}
	return stop
}

// logEarlier logs which nodes an ended process has left on a running ensemble. The notes stay until
// a test with -v has logged them: of others that pass, go test discards what they log.
func logEarlier(t TB) {
	t.Helper()
	_, err := inflight.Take(notesDir, func(text []byte) bool {
		if !realworld.IsLeft(text) {
			return false
		}
		t.Logf("zksim: from an earlier process: %s", text)
		return testing.Verbose()
	})
	if err != nil {
		t.Logf("zksim: notes of an ended process: %v", err)
	}
}

// takeNotes turns the notes of ended processes about a workload into files of saved failures.
func takeNotes(t TB, w scenario.Workload) (names []string, err error) {
	find := scenario.Catalogue{w}.Find
	notes, err := inflight.Take(notesDir, func(text []byte) bool {
		_, err := saved.Parse("note", text, find)
		return err == nil
	})
	if err != nil {
		return nil, fmt.Errorf("notes of an ended process: %w", err)
	}
	for _, text := range notes {
		f, err := saved.Parse("note", text, find)
		if err != nil {
			return nil, err
		}
		name, err := saveNoted(t, f, hashOf(text))
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// saveNoted saves a scenario that was under way when a process ended. If it was played alone, it
// has ended the process.
func saveNoted(t TB, f saved.File, hash string) (name string, err error) {
	left := filepath.Join(savedDir(t), leftPrefix+hash+".yaml")
	crash := filepath.Join(savedDir(t), crashPrefix+hash+".yaml")
	if exists(crash) {
		return crash, nil
	}
	name = left
	if exists(left) {
		name = crash
	}
	f.Test, f.Command = saved.TestOf(t.Name()), replayCommand(t, name)
	if err := f.Save(name); err != nil {
		return "", err
	}
	if name == crash {
		return name, os.Remove(left)
	}
	return name, nil
}

// tellEnded prints which scenarios were under way when processes of the engine of go test -fuzz
// ended: the engine discards what these print.
func tellEnded(t TB, w scenario.Workload) {
	names, err := takeNotes(t, w)
	for _, name := range names {
		fmt.Fprintf(os.Stderr, "zksim: %s was under way when a process of %s ended. To see it "+
			"again: %s\n", name, t.Name(), replayCommand(t, name))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "zksim: %v\n", err)
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// warn prints that a saved scenario may end the process. Any other output of the test would be lost
// then.
func warn(t TB, name string) {
	base := filepath.Base(name)
	if strings.HasPrefix(base, leftPrefix) || strings.HasPrefix(base, crashPrefix) {
		fmt.Fprintf(os.Stderr, "zksim: %s plays %s, which was under way when an earlier process "+
			"of this test ended; if this process ends, too, it is this scenario that ends it. "+
			"To see it again: %s\n", t.Name(), name, replayCommand(t, name))
	}
}

// removeCleared removes a file that was saved because of a note: its scenario does not end the
// process. Of a run of a proof it says what that means.
func removeCleared(name string, s scenario.Scenario, stderr io.Writer) error {
	if !strings.HasPrefix(filepath.Base(name), leftPrefix) {
		return nil
	}
	if s.Schedule.Kind == sim.Turns {
		fmt.Fprintf(stderr, "zksim: %s does not end the process. Of a run of a proof only the "+
			"choices made before it are known, so this may be another run. The proof plays "+
			"the same runs again.\n", name)
	}
	return os.Remove(name)
}
