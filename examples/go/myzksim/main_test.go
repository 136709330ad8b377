package main

import (
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1) // on which a World takes a fraction of the time
	testscript.Main(m, map[string]func(){"myzksim": main})
}

// TestMyzksimFindsTheBug of the lock, as the script in testdata has it.
func TestMyzksimFindsTheBug(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata"})
}
