package inflight

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// crashPrefix begins the name of the file to which the runtime writes why the process ends; the
// number of the process follows.
const crashPrefix = ".crash-"

// The words for the fatal error of the runtime that names no run. The numbers of the runs come
// between.
const (
	acrossRuns = "a connection, or another channel or timer, that was made in one run is used in " +
		"another one"
	acrossRunsWhy = ": the code keeps it in a variable of the package, and must make it anew in " +
		"each run; fuzz.Test with -zksim.processes plays each run in a process of its own"
	beforeRuns = " (made before the first run, as by init: let the code make it at its first use)"
)

// runsPrefix begins the name of the file with the number of the runs that a process has begun; the
// number of the process follows.
const runsPrefix = ".runs-"

// whichRuns names the runs of a process that has begun so many. The connection was made before the
// last of them.
func whichRuns(begun string) string {
	switch begun {
	case "":
		return ""
	case "0", "1":
		return beforeRuns
	case "2":
		return " (made in run 1, used in run 2)"
	}
	return " (used in one of the runs 2 to " + begun + ")"
}

// isAcrossRuns reports whether the runtime has written to that file that code uses in one run a
// channel or a timer of another. Its message is not in the file, though that of a panic is. The
// first call of the stack is that of the code, or with GOTRACEBACK=system one of a channel in the
// runtime. Other fatal errors come from a function fatal.
func isAcrossRuns(said string) bool {
	lines := append(strings.SplitN(said, "\n", 6), make([]string, 6)...)
	switch {
	case lines[0] != "" || !strings.HasPrefix(lines[1], "goroutine ") ||
		!strings.Contains(lines[1], "[running"):
		return false
	case strings.HasPrefix(lines[2], "runtime.fatal("):
		return strings.HasPrefix(lines[4], "runtime.s") || strings.HasPrefix(lines[4], "runtime.c")
	}
	return !strings.Contains(lines[2], "fatal(") && !isGivenUp(said)
}

// isGivenUp reports whether the runtime has written that it could not go on, as out of memory.
func isGivenUp(said string) bool { return strings.Contains(said, ":\nruntime.throw(") }

// keepCrash lets the runtime write to a file in the directory why the process ends, besides its
// standard error. remove removes the file.
func keepCrash(dir string) (name string, remove func()) {
	name = filepath.Join(dir, fmt.Sprintf("%s%d", crashPrefix, os.Getpid()))
	f, err := os.Create(name)
	if err != nil {
		return name, func() {}
	}
	defer f.Close()
	_ = debug.SetCrashOutput(f, debug.CrashOptions{}) // else the file stays empty
	return name, func() {
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		os.Remove(name)
	}
}

// GaveUp reports whether the runtime, as out of memory, has ended the process that kept notes in a
// directory.
func GaveUp(dir string) bool {
	names, _ := filepath.Glob(filepath.Join(dir, crashPrefix+"*")) // the pattern is right
	return slices.ContainsFunc(names, func(name string) bool {
		said, err := os.ReadFile(name)
		return err == nil && isGivenUp(string(said))
	})
}

// CrashedAcrossRuns says in words that the process that kept notes in a directory has ended because
// its code uses in one run what it has made in another, with the numbers of the runs as far as they
// are known. It is "" if the process has ended for another reason.
func CrashedAcrossRuns(dir string) string {
	names, _ := filepath.Glob(filepath.Join(dir, crashPrefix+"*")) // the pattern is right
	for _, name := range names {
		if said, err := os.ReadFile(name); err == nil && isAcrossRuns(string(said)) {
			begun, _ := os.ReadFile(runsFile(name)) // else the numbers are left out
			return acrossRuns + whichRuns(string(begun)) + acrossRunsWhy
		}
	}
	return ""
}

// runsFile is the file with the number of the runs that a process has begun, beside its crash file.
func runsFile(crash string) string {
	return filepath.Join(filepath.Dir(crash),
		runsPrefix+strings.TrimPrefix(filepath.Base(crash), crashPrefix))
}
