// Package testrun says how much the tests of this module do. Without a flag they play a sample of
// every kind of thing, so that all packages take two minutes together. With -full they play all of
// it, which .ci/full does. With -short, which is for the race detector, they play less than the
// sample, and start no real server.
package testrun

import (
	"flag"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

var full = flag.Bool("full", false, "test everything, and not a sample")

var update = flag.Bool("update", false, "write the expected results of testdata or pages anew")

// Update reports whether the tests are to write what they expect anew.
func Update() bool { return *update }

// Full reports whether the tests are to do everything.
func Full() bool { return *full }

// Pick returns all with -full, and else the sample.
func Pick[T any](sample, all T) T {
	if Full() {
		return all
	}
	return sample
}

// SetFlag sets a flag of the test binary until the test ends.
func SetFlag(t *testing.T, name, value string) {
	t.Helper()
	before := flag.Lookup(name).Value.String()
	check.OK(t, flag.Set(name, value))
	t.Cleanup(func() { check.OK(t, flag.Set(name, before)) })
}

// Main runs the tests of a package that plays simulated Worlds. The goroutines of a World take
// turns, and on one processor a turn costs a fraction of a turn on several: so a package has one,
// unless -full is given, and go test uses the others for other packages.
func Main(m *testing.M) {
	flag.Parse()
	letGarbageGrow()
	if !Full() {
		runtime.GOMAXPROCS(1)
	}
	m.Run()
}

// MainThatConnects runs the tests of a package that plays little in Worlds, and makes many
// connections to servers in memory. Goroutines run as they like, on all processors.
func MainThatConnects(m *testing.M) {
	flag.Parse()
	letGarbageGrow()
	m.Run()
}

// letGarbageGrow up to a limit: each connection of the client takes megabytes, and collecting them
// is half of a run.
func letGarbageGrow() {
	debug.SetGCPercent(1600)
	debug.SetMemoryLimit(1 << 30)
}

// MainThatWaits runs the tests of a package in which most tests wait for a server, in real time:
// eight parallel tests at a time, on any number of processors.
func MainThatWaits(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	m.Run()
}
