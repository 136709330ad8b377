package state

import (
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkMemory shows the memory of a znode beyond its data, with a million znodes.
func BenchmarkMemory(b *testing.B) {
	const nodes, dataBytes = 1_000_000, 100
	for b.Loop() {
		before := heapInUse()
		s := newStore(b)
		must(b, s, guest(), create("/a"), create("/a/b"))
		for i := range nodes {
			req := create(fmt.Sprintf("/a/b/n%07d", i))
			req.Data = make([]byte, dataBytes)
			s.Apply(s.Prepare(req, guest(), 1))
		}
		b.ReportMetric(float64(heapInUse()-before)/nodes-dataBytes, "B/znode")
		runtime.KeepAlive(s)
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
