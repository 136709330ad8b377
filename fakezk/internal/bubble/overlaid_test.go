//go:build zksim_overlay

package bubble

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
)

// TestTimePassesWhileAMutexOfTheBubbleIsHeld would not end if it did not.
func TestTimePassesWhileAMutexOfTheBubbleIsHeld(t *testing.T) {
	if f := Run(1, func() {
		var mu sync.Mutex
		var rw sync.RWMutex
		var wg sync.WaitGroup
		mu.Lock()
		rw.RLock()
		wg.Go(func() { mu.Lock(); defer mu.Unlock() })
		wg.Go(func() { rw.Lock(); defer rw.Unlock() })
		time.Sleep(time.Hour)
		wg.Go(func() { rw.RLock(); defer rw.RUnlock() }) // waits for the writer, which waits
		time.Sleep(time.Hour)
		rw.RUnlock()
		mu.Unlock()
		wg.Wait()
	}); f != nil {
		t.Error(f)
	}
}

func TestTimeWaitsForAMutexThatIsHeldOutside(t *testing.T) {
	var mu sync.Mutex
	mu.Lock()
	go func() {
		for !strings.Contains(Stacks(), "[sync.Mutex.Lock, synctest bubble") {
			runtime.Gosched()
		}
		for range 1000 {
			runtime.Gosched()
		}
		mu.Unlock()
	}()
	var waited time.Duration
	if f := Run(1, func() {
		began := time.Now()
		sleeper := make(chan bool)
		go func() { time.Sleep(time.Hour); close(sleeper) }()
		mu.Lock()
		waited = time.Since(began)
		mu.Unlock()
		<-sleeper
	}); f != nil {
		t.Error(f)
	}
	check.Equal(t, waited, 0, "time that passed while the mutex was held outside")
}
