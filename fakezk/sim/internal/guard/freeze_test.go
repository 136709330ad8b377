package guard

import (
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
)

// TestCodeThatComputesHasProcessorTime: on a busy machine real time says nothing.
func TestCodeThatComputesHasProcessorTime(t *testing.T) {
	now, known := processorTime()
	if !known {
		t.Skip("the processor time of a process is not known here")
	}
	const running = "goroutine 7 [running, synctest bubble 1]:\nmain.spin()\n\t/main.go:3 +0x1\n"
	const waiting = "goroutine 7 [sync.Mutex.Lock, synctest bubble 1]:\nmain.wait()\n"
	for _, c := range []struct {
		stacks string
		used   time.Duration
		want   bool
	}{
		{running, now, true},
		{running, now - time.Hour, false},
		{waiting, now, false},
	} {
		check.Equal(t, computesSince(c.used, time.Minute, c.stacks), c.want, "%v before, %s",
			now-c.used, c.stacks)
	}
}
