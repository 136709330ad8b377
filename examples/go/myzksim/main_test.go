package main

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1) // on which a World takes a fraction of the time
	debug.SetGCPercent(400)
	testscript.Main(m, map[string]func(){"myzksim": main})
}

// TestMyzksimFindsTheBug of the lock, as the script in testdata has it.
func TestMyzksimFindsTheBug(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata"})
}
