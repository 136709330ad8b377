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
	got := leaks(report, true)
	if len(got) != 1 || !strings.HasPrefix(got[0], "it never ends: it is at mylock.go:7, in ") {
		t.Errorf("leaks: %q", got)
	}
}

// TestConnectionsOfAScriptThatHangsAreNoLeaks: it may close them at its end. Those of a script that
// has ended are.
func TestConnectionsOfAScriptThatHangsAreNoLeaks(t *testing.T) {
	const report = "blocked goroutines remain\n" +
		"goroutine 7 [select, synctest bubble 1]:\nx/zk.(*Conn).connect(0x1)\n\t/src/conn.go:7 " +
		"+0x1\n" +
		"created by x/zk.Connect in goroutine 1\n\t/src/conn.go:8 +0x1"
	const worker = "\n\ngoroutine 8 [select, synctest bubble 1]:\nmylock.work(0x1)\n" +
		"\t/src/mylock.go:7 +0x1\ncreated by mylock.New in goroutine 1\n\t/src/mylock.go:8 +0x1"
	for _, test := range []struct {
		report string
		ended  bool
		want   int
	}{{report, true, 1}, {report, false, 0}, {report + worker, true, 2},
		{report + worker, false, 1}} {
		if got := leaks(test.report, test.ended); len(got) != test.want {
			t.Errorf("scripts ended: %v; want %d leaks, got %q", test.ended, test.want, got)
		}
	}
}
