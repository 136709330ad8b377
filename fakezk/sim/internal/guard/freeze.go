package guard

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/dialhook"
	"github.com/zksim/zksim/fakezk/trace"
)

const (
	// patrol is the time between two looks of the watchdog at the number of steps.
	patrol = 20 * time.Millisecond
	// firstLook is the number of looks without a step after which it looks at the stacks. In a
	// program of zksim go no dial by TCP is one on the real network.
	firstLook = 5
)

// Watch waits for the run to end. When no step is made for the time of freeze, it gives up and
// returns the stacks of the run. It waits for a quarter of that time only if nothing in the run can
// go on: all goroutines wait, and one of them for a mutex. If a goroutine waits for the real
// network, it gives up after 100 ms: the next wait would be as long. Code that computes has the
// time of freeze as processor time of this process, so that a busy machine accuses nobody.
func (g *Guard) Watch(
	ended <-chan *bubble.Failure, freeze time.Duration,
) (failure *bubble.Failure, frozen string) {
	every := min(freeze/4, patrol)
	patience := int(freeze / every)
	quarter := max(1, patience/4)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for last, idle, used := int64(-1), 0, time.Duration(0); ; {
		select {
		case failure := <-ended:
			return failure, ""
		case <-tick.C:
		}
		if steps := g.steps.Load(); steps != last {
			last, idle = steps, 0
			used, _ = processorTime()
			continue
		}
		idle++
		if numGoroutine() >= tooMany {
			g.exitOnGoroutines()
		}
		early := idle == firstLook && !dialhook.Overlaid
		if !early && idle != quarter && (idle < patience || idle%quarter != 0) {
			continue
		}
		stacks := g.Stacks()
		if idle >= patience && !computesSince(used, freeze, stacks) || onNetwork(stacks) ||
			idle >= quarter && lockedUp(stacks) {
			return nil, stacks
		}
	}
}

// computesSince reports whether a goroutine of some stacks computes, and this process has not yet
// had some processor time since it had used so much.
func computesSince(used, enough time.Duration, stacks string) bool {
	now, known := processorTime()
	return known && now-used < enough && IsRunning(stacks)
}

// tooMany is the number of goroutines of the process at which it ends itself.
const tooMany = 20 * maxGoroutines

// exitOnGoroutines ends the process if the run has begun most of its goroutines, without letting
// virtual time pass. Nothing else would stop the run before the memory is full.
func (g *Guard) exitOnGoroutines() {
	const sample = 4 << 20
	buf := make([]byte, sample)
	stacks := string(buf[:runtime.Stack(buf, true)])
	if n, stack := g.goroutines(stacks); n > strings.Count(stacks, "\n\n")/2 {
		fmt.Fprintf(os.Stderr, "fatal error: the code under test begins goroutines without number "+
			"at one instant; the process has %d. One of them is:\n%s\n",
			runtime.NumGoroutine(), stack)
		os.Exit(2) // not by a panic, which could be recovered, and could print them all
	}
}

// Stacks are the stacks of the goroutines in the run's bubble, also of one that still runs.
func (g *Guard) Stacks() string {
	name := g.bubbleName()
	var kept []string
	for stack := range trace.Stacks(bubble.Stacks()) {
		header, _, _ := strings.Cut(stack, "\n")
		ours := strings.Contains(stack, "internal/bubble.Run") ||
			strings.Contains(stack, "testing/synctest.")
		if strings.Contains(header, name) && !ours {
			kept = append(kept, stack)
		}
	}
	return strings.Join(kept, "\n\n")
}

// lockedUp reports whether all goroutines of some stacks wait, and one of them for a mutex.
func lockedUp(stacks string) bool {
	locked := false
	for stack := range trace.Stacks(stacks) {
		locked = locked || trace.WaitsForMutex(stack)
	}
	return locked && !IsRunning(stacks)
}

// onNetwork reports whether a goroutine of some stacks waits for the real network. One that rests
// waits for the World, which zksim go puts in the network's place, and one that runs may only be
// slow.
func onNetwork(stacks string) bool {
	for stack := range trace.Stacks(stacks) {
		if trace.UsesNetwork(stack) && trace.ActivityOf(stack) == trace.Waits {
			return true
		}
	}
	return false
}

// IsRunning reports whether a goroutine of some stacks runs.
func IsRunning(stacks string) bool {
	for stack := range trace.Stacks(stacks) {
		if stack != "" && trace.ActivityOf(stack) == trace.Runs {
			return true
		}
	}
	return false
}
