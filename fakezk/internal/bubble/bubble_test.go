package bubble

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/internal/check"
)

func TestRunOfAGoodBody(t *testing.T) {
	ran := false
	failure := Run(1, func() {
		began := time.Now()
		time.Sleep(time.Hour)
		done := make(chan struct{})
		go func() { defer close(done); time.Sleep(time.Minute) }()
		<-done
		synctest.Wait()
		ran = time.Since(began) == time.Hour+time.Minute
	})
	if failure != nil || !ran {
		t.Errorf("failure %v, virtual time passed: %v", failure, ran)
	}
}

func TestRunWaitsForGoroutinesThatRun(t *testing.T) {
	ended := false
	failure := Run(1, func() {
		go func() {
			for range 1000 {
				runtime.Gosched()
			}
			ended = true
		}()
	})
	if failure != nil || !ended {
		t.Errorf("failure %v, ended %v", failure, ended)
	}
}

func TestRunReportsHowABodyFailed(t *testing.T) {
	tests := []struct {
		name, kind, message string
		body                func()
	}{
		{"panic", "panic", "broken", func() { panic("broken") }},
		{"panic with an error", "panic", "EOF", func() { panic(io.EOF) }},
		{"panic after time", "panic", "late", func() { time.Sleep(time.Hour); panic("late") }},
		{
			"runtime error", "panic", "index out of range",
			func() { var none []int; _ = none[len(os.Args)] },
		},
		{"leak", "leak", "blocked goroutines remain", func() { go func() { select {} }() }},
		{
			"leak on a channel", "leak", "blocked goroutines remain",
			func() { c := make(chan int); go func() { <-c }() },
		},
		{
			"leak of a sleeper", "leak", "blocked goroutines remain", func() {
				go time.Sleep(time.Hour)
			},
		},
		{"deadlock", "deadlock", "deadlock", func() { select {} }},
		{"deadlock on a channel", "deadlock", "deadlock", func() { <-make(chan int) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			failure := Run(1, test.body)
			if failure == nil {
				t.Fatal("no failure")
			}
			if failure.Kind != test.kind || !strings.Contains(failure.Message, test.message) {
				t.Errorf("got %v", failure)
			}
			hasStack := strings.Contains(failure.Stack, "bubble_test.go")
			check.Equal(t, hasStack, test.kind == "panic", "stack: %s", failure.Stack)
			if !strings.HasPrefix(failure.Error(), "bubble: "+test.kind+": ") {
				t.Errorf("error text %q", failure.Error())
			}
		})
	}
}

func TestRunAgainAfterFailures(t *testing.T) {
	for range 10 {
		if Run(1, func() { panic("x") }) == nil {
			t.Error("no failure")
		}
		if failure := Run(1, func() {}); failure != nil {
			t.Error(failure)
		}
	}
}

func draw(t testing.TB) string {
	t.Helper()
	var p [16]byte
	if _, err := rand.Read(p[:]); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", p)
}

// drawTwice draws from the body and from another goroutine of the bubble.
func drawTwice(t testing.TB, seed uint64) (got string) {
	t.Helper()
	if failure := Run(seed, func() {
		got = draw(t)
		done := make(chan string)
		go func() { done <- draw(t) }()
		got += " " + <-done
	}); failure != nil {
		t.Fatal(failure)
	}
	return got
}

func TestRandomBytesComeFromTheSeed(t *testing.T) {
	first := drawTwice(t, 1)
	check.Equal(t, drawTwice(t, 1), first, "the second draw of seed 1")
	if other := drawTwice(t, 2); other == first {
		t.Errorf("seeds 1 and 2 both gave %s", first)
	}
	a, b, _ := strings.Cut(first, " ")
	if a == b {
		t.Errorf("two draws of one bubble are equal: %s", a)
	}
}

func TestRandomBytesOutsideABubbleStayRandom(t *testing.T) {
	seen := map[string]bool{draw(t): true}
	check := func(where string) {
		if got := draw(t); seen[got] {
			t.Errorf("%s: %s was drawn before", where, got)
		} else {
			seen[got] = true
		}
	}
	for range 2 {
		inside, release, ended := make(chan struct{}), make(chan struct{}), make(chan *Failure)
		go func() {
			ended <- Run(1, func() {
				draw(t)
				close(inside)
				<-release
			})
		}()
		<-inside
		check("next to a bubble")
		close(release)
		if failure := <-ended; failure != nil {
			t.Error(failure)
		}
	}
	synctest.Test(t, func(t *testing.T) { check("in a bubble that Run did not start") })
}

func TestParallelBubblesDoNotMix(t *testing.T) {
	want := map[uint64]string{}
	for seed := range uint64(8) {
		want[seed] = drawTwice(t, seed)
	}
	var wg sync.WaitGroup
	for worker := range uint64(4) {
		wg.Go(func() {
			for i := range uint64(50) {
				seed := (worker + i) % 8
				check.Equal(t, drawTwice(t, seed), want[seed], "seed %d beside other bubbles", seed)
			}
		})
	}
	wg.Wait()
}

func TestName(t *testing.T) {
	check.Equal(t, Name(), "", "outside")
	var inside string
	Run(1, func() { inside = Name() })
	if !strings.HasPrefix(inside, "synctest bubble ") || !strings.HasSuffix(inside, "]") {
		t.Errorf("inside: %q", inside)
	}
}

// The zero testing.T of Run also works in a program that is not a test.
func TestRunInAProgramThatIsNoTest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	cmd := exec.Command("go", "run", "./testdata/program")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	const want = "good: <nil> after 1h0m0s\npanic: bubble: panic: broken\n" +
		"leak: leak\ndeadlock: deadlock\n"
	check.Equal(t, string(out), want, "the program prints")
}

// TestEachBubbleLooksUpHosts: a look-up on the real network in one bubble does not end the process
// in the next one.
func TestEachBubbleLooksUpHosts(t *testing.T) {
	for range 2 {
		if failure := Run(1, func() {
			_, _ = net.LookupHost("localhost")
		}); failure != nil {
			t.Error(failure)
		}
	}
}
