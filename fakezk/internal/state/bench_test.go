package state

import (
	"strconv"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// BenchmarkCreateDelete shows that the cost does not depend on the siblings.
func BenchmarkCreateDelete(b *testing.B) {
	for _, siblings := range []int{10, 100_000} {
		b.Run(strconv.Itoa(siblings), func(b *testing.B) {
			s := newStore(b)
			must(b, s, nobody(), create("/p"))
			for range siblings {
				must(b, s, nobody(), createFlags("/p/n", proto.FlagPersistentSequential))
			}
			by, made, gone := nobody(), create("/p/x"), remove("/p/x")
			b.ReportAllocs()
			for b.Loop() {
				s.Apply(s.Prepare(made, by, 1))
				s.Apply(s.Prepare(gone, by, 1))
			}
		})
	}
}

func BenchmarkChildren(b *testing.B) {
	s := newStore(b)
	must(b, s, nobody(), create("/p"))
	for range 100_000 {
		must(b, s, nobody(), createFlags("/p/n", proto.FlagPersistentSequential))
	}
	for b.Loop() {
		if names, _, _ := s.Children("/p", nobody()); len(names) != 100_000 {
			b.Fatal(len(names))
		}
	}
}
