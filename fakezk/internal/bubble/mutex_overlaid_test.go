//go:build zksim_overlay

package bubble

import (
	"sync"
	"testing"
	"time"
)

func TestTimePassesWhileAMutexOfTheBubbleIsHeld(t *testing.T) {
	done := make(chan *Failure)
	go func() {
		done <- Run(1, func() {
			var mu sync.Mutex
			mu.Lock()
			var wg sync.WaitGroup
			wg.Go(func() { mu.Lock(); mu.Unlock() })
			time.Sleep(time.Hour)
			mu.Unlock()
			wg.Wait()
		})
	}()
	select {
	case f := <-done:
		if f != nil {
			t.Error(f)
		}
	case <-time.After(3 * time.Second):
		t.Fatal("frozen")
	}
}
