// Package ballast keeps the collector quiet while scenarios are played.
//
// The client makes 1.5 MB of zeros for each connection. In a small process the collector runs after
// every scenario then, and gives these pages back to the system; the next scenario faults each of
// them in again. That takes half of the processor time. A ballast is a large allocation without
// pointers that nobody touches: it takes no memory by itself, but the collector counts it, and so
// lets as much garbage gather before it runs. No setting of the process changes.
package ballast

import (
	"runtime/metrics"
	"sync"
	"weak"
)

// mostBytes is the size of a ballast, without settings of the collector. With 32 MB a hunt takes
// 4 % more processor time, with 128 MB 6 % less.
const mostBytes = 64 << 20

// A ballast is a value of its own for the weak pointer to it.
type ballast struct{ bytes []byte }

// shared is the ballast of all holders.
var shared struct {
	sync.Mutex
	holders int
	held    *ballast // nil without holders
	// last is the newest. The next holder takes it again if the collector has not yet: memory that
	// was used before is cleared, which takes its pages.
	last weak.Pointer[ballast]
}

// Hold makes a ballast, or shares that of other holders. The last release leaves it to the
// collector. A ballast is smaller with a GOGC above 100, and under a memory limit, of which it
// takes a sixteenth at most. With GOGC=off there is none.
func Hold() (release func()) {
	shared.Lock()
	defer shared.Unlock()
	if shared.holders++; shared.holders == 1 {
		shared.held = take()
	}
	return sync.OnceFunc(func() {
		shared.Lock()
		defer shared.Unlock()
		if shared.holders--; shared.holders == 0 {
			shared.held = nil
		}
	})
}

// take returns the newest ballast if it is still there, and else makes one. The lock is held.
func take() *ballast {
	size := sizeFor(settings())
	if b := shared.last.Value(); b != nil && len(b.bytes) == size {
		return b
	}
	b := &ballast{make([]byte, size)}
	shared.last = weak.Make(b)
	return b
}

// off is the percentage with GOGC=off.
const off = -1

// settings are those of the process: GOGC in percent, and the memory limit in bytes.
func settings() (percent, limit int64) {
	samples := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 { // this release of Go does not know it
			return off, 0
		}
	}
	return int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())
}

// sizeFor is the size of a ballast. With a higher percentage the same garbage gathers for fewer
// bytes.
func sizeFor(percent, limit int64) int {
	if percent == off {
		return 0
	}
	return int(min(mostBytes*100/max(percent, 100), limit/16))
}
