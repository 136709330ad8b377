package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/trace"
)

// TestLeaksOfARealWorldAreScripts: its stacks are those of the whole process.
func TestLeaksOfARealWorldAreScripts(t *testing.T) {
	const report = "scripts that did not end with their context\n" +
		"goroutine 1 [chan receive]:\nmain.main()\n\t/src/main.go:4 +0x1\n\n" +
		"goroutine 7 [select]:\nmylock.(*Lock).Lock(0x1)\n\t/src/mylock.go:7 +0x1\n" +
		"github.com/zksim/zksim/fakezk/realworld.(*run).script(0x1)\n\t/src/run.go:9 +0x1\n" +
		"created by github.com/zksim/zksim/fakezk/realworld.(*run).start in goroutine 1\n" +
		"\t/src/world.go:8 +0x1"
	got := leaks(&trace.Result{Leaked: report})
	if len(got) != 1 || !strings.HasPrefix(got[0], "it never ends: it is at mylock.go:7, in ") {
		t.Errorf("leaks: %q", got)
	}
}

// TestConnectionsOfAScriptThatHangsAreNoLeaks: it may close them at its end. Those of a script that
// has ended are leaks, whatever another script does.
func TestConnectionsOfAScriptThatHangsAreNoLeaks(t *testing.T) {
	const inBubble = " [select, synctest bubble 1]:\n"
	connection := func(number, beginner int) string {
		return fmt.Sprintf("\ngoroutine %d%sx/zk.(*Conn).connect(0x1)\n\t/src/conn.go:7 +0x1\n"+
			"created by x/zk.Connect in goroutine %d\n\t/src/conn.go:8 +0x1\n",
			number, inBubble, beginner)
	}
	worker := func(number, beginner int) string {
		return fmt.Sprintf("\ngoroutine %d%smylock.work(0x1)\n\t/src/mylock.go:7 +0x1\n"+
			"created by mylock.New in goroutine %d\n\t/src/mylock.go:8 +0x1\n",
			number, inBubble, beginner)
	}
	const a, b, gone = 1, 2, 3 // scripts, and a goroutine that has ended
	for _, test := range []struct {
		about, stacks string
		busy          []string
		want          int
	}{
		{"all scripts have ended", connection(7, a), nil, 1},
		{"the script hangs", connection(7, a), []string{"a"}, 0},
		{"another script hangs", connection(7, a), []string{"b"}, 1},
		{"its worker is left, too", connection(7, a) + worker(8, a), []string{"a"}, 1},
		{"a worker of a connected", worker(8, a) + connection(7, 8), []string{"b"}, 2},
		{"a worker of b connected", worker(8, b) + connection(7, 8), []string{"b"}, 1},
		{"nobody knows who connected", connection(7, gone), []string{"b"}, 0},
	} {
		got := leaks(&trace.Result{
			Leaked: "blocked goroutines remain" + test.stacks, Busy: test.busy,
			Scripts: map[int64]string{a: "a", b: "b"},
		})
		if len(got) != test.want {
			t.Errorf("%s: want %d leaks, got %q", test.about, test.want, got)
		}
	}
}
