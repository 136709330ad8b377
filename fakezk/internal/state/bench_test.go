package state

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// BenchmarkCreateDelete shows that the cost does not depend on the number of siblings.
func BenchmarkCreateDelete(b *testing.B) {
	for _, siblings := range []int{10, 100_000} {
		b.Run(strconv.Itoa(siblings), func(b *testing.B) {
			s := newStore(b)
			must(b, s, guest(), create("/p"))
			for range siblings {
				must(b, s, guest(), createFlags("/p/n", proto.FlagPersistentSequential))
			}
			by, made, gone := guest(), create("/p/x"), remove("/p/x")
			b.ReportAllocs()
			for b.Loop() {
				s.Apply(s.Prepare(made, by, 1))
				s.Apply(s.Prepare(gone, by, 1))
			}
		})
	}
}

// BenchmarkWrites shows the cost of each kind of write.
func BenchmarkWrites(b *testing.B) {
	s := newStore(b)
	must(b, s, guest(), create("/p"), create("/p/x"))
	by := guest()
	for _, req := range []proto.Request{
		set("/p/x", "data", -1), createFlags("/p/n", proto.FlagPersistentSequential),
		create("/p/x"), &proto.Check{Path: "/p/x", Version: -1},
		multi(&proto.Check{Path: "/p/x", Version: -1}, set("/p/x", "data", -1)),
	} {
		b.Run(req.Op().String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Apply(s.Prepare(req, by, 1))
			}
		})
	}
}

func BenchmarkChildren(b *testing.B) {
	s := newStore(b)
	must(b, s, guest(), create("/p"))
	for range 100_000 {
		must(b, s, guest(), createFlags("/p/n", proto.FlagPersistentSequential))
	}
	for b.Loop() {
		if names, _, _ := s.Children("/p", guest()); len(names) != 100_000 {
			b.Fatal(len(names))
		}
	}
}

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
