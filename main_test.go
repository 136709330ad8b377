package zksim_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/testrun"
)

// TestMain lets TestMyLock play fewer random scenarios than a user's test does, unless -full is
// given.
func TestMain(m *testing.M) {
	if os.Getenv(deathVariable) != "" && len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		commandOfDeath()
	}
	flag.Parse()
	if !testrun.Full() {
		if err := flag.Set("zksim.runs", "30"); err != nil {
			panic(err)
		}
	}
	testrun.Main(m)
}
