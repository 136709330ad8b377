// Package inflight keeps notes of a process's work on disk, so that something is known when the
// process ends in the middle of it: by a panic in a goroutine that nothing recovers, by a fatal
// error of the runtime, or by os.Exit.
//
// Keep begins to keep notes in a directory, Note keeps one while some work goes on, and Take
// returns the notes of processes that have ended.
package inflight

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
)

// Variable is the variable of the environment that makes a process keep notes for the process that
// has started it: their directory.
const Variable = "ZKSIM_NOTES"

// keeper has the files of a process. A file that is not in use is empty.
type keeper struct {
	mu    sync.Mutex
	dir   string
	made  []string // directories made for it, the outermost first
	users int      // calls of Keep under way; 0: nothing is kept
	files []*os.File
	free  []*os.File

	begun int      // calls of Note
	runs  *os.File // with that number, nil if it cannot be made

	crash       string // the file of keepCrash
	removeCrash func()
	announcer   announcer // of KeepAnnounced
}

var kept keeper

// Keep lets Note keep notes in a directory until stop is called, and makes the directory if need
// be. If there are several calls at a time, the notes of all are in the directory of the first.
func Keep(dir string) (stop func(), err error) {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.users == 0 {
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
		if kept.made, err = makeDir(dir); err != nil {
			return nil, err
		}
		kept.dir = dir
		kept.crash, kept.removeCrash = keepCrash(dir)
		if kept.runs, err = os.Create(runsFile(kept.crash)); err != nil {
			kept.runs, err = nil, nil
		}
		kept.begun = 0
	}
	kept.users++
	return sync.OnceFunc(kept.stop), nil
}

// KeepAnnounced is [Keep]. If the process ends in the middle of some work, each note is also
// printed on standard error, in one line.
func KeepAnnounced(dir string) (stop func(), err error) {
	stop, err = Keep(dir)
	if err != nil {
		return nil, err
	}
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.announcer.process == nil {
		kept.announcer = startAnnouncer(kept.dir, kept.crash)
	}
	return stop, nil
}

// makeDir makes a directory, and returns those that were not there.
func makeDir(dir string) (made []string, err error) {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append([]string{d}, made...)
	}
	return made, os.MkdirAll(dir, 0o777)
}

// stop removes the files, and the directories that were made for them if they are empty.
func (k *keeper) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.users--; k.users > 0 {
		return
	}
	for _, f := range k.files {
		f.Close()
		os.Remove(f.Name())
	}
	k.removeCrash()
	if k.runs != nil {
		k.runs.Close()
		os.Remove(k.runs.Name())
	}
	k.announcer.stop()
	k.announcer = announcer{}
	for i := len(k.made) - 1; i >= 0; i-- {
		os.Remove(k.made[i])
	}
	k.files, k.free, k.made = nil, nil, nil
}

// Note keeps a text until done is called. It calls text only if notes are kept. A note that cannot
// be written is left out.
func Note(text func() []byte) (done func()) {
	f := kept.file()
	if f == nil {
		return func() {}
	}
	f.WriteAt(text(), 0)
	return func() {
		f.Truncate(0)
		kept.mu.Lock()
		defer kept.mu.Unlock()
		if slices.Contains(kept.files, f) { // not those of a Keep that has ended
			kept.free = append(kept.free, f)
		}
	}
}

// file returns an empty file that is not in use, nil if there is none.
func (k *keeper) file() *os.File {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.users == 0 {
		return nil
	}
	if k.begun++; k.runs != nil {
		k.runs.WriteAt([]byte(strconv.Itoa(k.begun)), 0) // else the number is old
	}
	if n := len(k.free); n > 0 {
		f := k.free[n-1]
		k.free = k.free[:n-1]
		return f
	}
	name := fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), len(k.files))
	f, err := os.Create(filepath.Join(k.dir, name))
	if err != nil {
		return nil
	}
	k.files = append(k.files, f)
	return f
}

// prefix begins the names of the files; the number of the process follows.
const prefix = ".playing-"

// Take looks in a directory for the notes of processes that have ended. It returns the notes that
// mine accepts, and removes them.
func Take(dir string, mine func(text []byte) bool) ([][]byte, error) {
	names, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	if err != nil {
		return nil, err
	}
	var notes [][]byte
	for _, name := range names {
		var pid, n int
		_, err := fmt.Sscanf(filepath.Base(name), prefix+"%d-%d", &pid, &n)
		if err != nil || alive(pid) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		empty := len(text) == 0
		if !empty && !mine(text) {
			continue
		}
		if err := os.Remove(name); err != nil {
			return nil, err
		}
		if !empty {
			notes = append(notes, text)
		}
	}
	return notes, nil
}

// alive reports whether a process has not ended. Where that cannot be found out, it has ended.
func alive(pid int) bool {
	if pid == os.Getpid() {
		return true
	}
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}
