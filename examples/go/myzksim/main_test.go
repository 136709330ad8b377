package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"myzksim": main})
}

// TestMyzksimFindsTheBug of the lock, as the script in testdata has it.
func TestMyzksimFindsTheBug(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata"})
}
