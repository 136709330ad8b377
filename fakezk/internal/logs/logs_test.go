package logs

import (
	"io"
	"log"
	"sync"
	"testing"
	"testing/synctest"
)

// keepOutput gives package log back its output when the test ends.
func keepOutput(t *testing.T) {
	before := log.Writer()
	t.Cleanup(func() { log.SetOutput(before) })
}

// TestTakeKeepsTheLinesOfItsBubble: a taker is given the lines of its own bubble until it is
// released; the others go where they went before.
func TestTakeKeepsTheLinesOfItsBubble(t *testing.T) {
	keepOutput(t)
	var elsewhere lines
	log.SetOutput(&elsewhere)
	var kept []string
	synctest.Test(t, func(*testing.T) {
		release := Take(func(_ int64, line string) { kept = append(kept, line) })
		log.Print("in the bubble")
		release()
		log.Print("after the release")
	})
	if len(kept) != 1 || len(elsewhere.all) != 1 {
		t.Errorf("kept %q, written %q, want one of each", kept, elsewhere.all)
	}
}

type lines struct{ all []string }

func (l *lines) Write(p []byte) (int, error) {
	l.all = append(l.all, string(p))
	return len(p), nil
}

// TestTakeWhileOthersWrite: a World may begin while the code in another one writes a line.
func TestTakeWhileOthersWrite(t *testing.T) {
	keepOutput(t)
	log.SetOutput(io.Discard)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	defer writers.Wait()
	defer close(stop)
	for range 4 {
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					log.Print("a line")
				}
			}
		})
	}
	for range 500 {
		synctest.Test(t, func(*testing.T) { Take(func(int64, string) {})() })
	}
}
