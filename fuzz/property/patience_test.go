package property

import (
	"crypto/sha256"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"pgregory.net/rapid"
)

// failedTB is a test that may fail without consequence.
type failedTB struct {
	rapid.TB
	failed bool
}

func (*failedTB) Helper()                 {}
func (*failedTB) Name() string            { return "TestPatience" }
func (*failedTB) Logf(string, ...any)     {}
func (*failedTB) Log(...any)              {}
func (f *failedTB) Errorf(string, ...any) { f.failed = true }
func (f *failedTB) Failed() bool          { return f.failed }
func (*failedTB) FailNow()                { runtime.Goexit() }

// TestShrinkingEndsWithoutGain: rapid has a minute to make a failure smaller, and each run takes a
// second. When nothing was gained for a while, no more is played.
func TestShrinkingEndsWithoutGain(t *testing.T) {
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "rapid.seed", "2")
	testrun.SetFlag(t, "rapid.shrinktime", "1m")
	testrun.SetFlag(t, "rapid.checks", "2000")
	var now, gained time.Time
	played, inVain := 0, 0
	c := &checker{tb: &failedTB{}, name: "TestPatience", servers: 1,
		now: func() time.Time { return now }}
	c.body = func(rt *rapid.T, _ *World) {
		words := rapid.SliceOfN(rapid.StringN(3, 3, -1), 8, 8).Draw(rt, "words")
		now = now.Add(time.Second)
		played++
		sum := sha256.Sum256([]byte(strings.Join(words, " ")))
		switch {
		case sum[0] < 8: // few smaller draws fail, too
			gained = now
			rt.Fatal("bad words")
		case !gained.IsZero():
			inVain = max(inVain, int(now.Sub(gained)/time.Second))
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		rapid.Check(c.tb, c.check)
	}()
	<-done
	if c.last == nil || played < 5 {
		t.Fatalf("%d runs, and the last failure is %v", played, c.last)
	}
	if most := int(patience/time.Second) + 1; inVain > most {
		t.Errorf("%d seconds of runs in vain; want %d at most", inVain, most)
	}
	check.Equal(t, c.tb.Failed(), true)
}
