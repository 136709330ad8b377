package scenario

import (
	"strings"
	"testing"
)

// TestLeaksOfARealWorldAreScripts: its stacks are those of the whole process.
func TestLeaksOfARealWorldAreScripts(t *testing.T) {
	const report = "scripts that did not end with their context\n" +
		"goroutine 1 [chan receive]:\nmain.main()\n\t/src/main.go:4 +0x1\n\n" +
		"goroutine 7 [select]:\nmylock.(*Lock).Lock(0x1)\n\t/src/mylock.go:7 +0x1\n" +
		"github.com/zksim/zksim/fakezk/realworld.(*run).script(0x1)\n\t/src/run.go:9 +0x1\n" +
		"created by github.com/zksim/zksim/fakezk/realworld.(*run).start in goroutine 1\n" +
		"\t/src/world.go:8 +0x1"
	got := leaks(report)
	if len(got) != 1 || !strings.HasPrefix(got[0], "it never ends: it is at mylock.go:7, in ") {
		t.Errorf("leaks: %q", got)
	}
}
