package property

import (
	"flag"
	"testing"

	"github.com/zksim/zksim/internal/check"
)

// setFlag sets a flag for the test.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	old := flag.Lookup(name).Value.String()
	check.OK(t, flag.Set(name, value))
	t.Cleanup(func() { check.OK(t, flag.Set(name, old)) })
}

// SetFlag is setFlag for the tests outside of the package.
var SetFlag = setFlag
