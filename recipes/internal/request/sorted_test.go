package request

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// serverName is the name that a server makes for a number.
func serverName(seq int32) string { return fmt.Sprintf("lock-%010d", seq) }

// someNumbers draws numbers of a server, oldest first, over the wrap or not, and with gaps of
// deleted nodes.
func someNumbers(t *rapid.T) []int32 {
	next := rapid.OneOf(rapid.Int32(), rapid.Int32Range(math.MaxInt32-20, math.MaxInt32),
		rapid.Just(int32(0))).Draw(t, "first")
	var list []int32
	for range rapid.IntRange(0, 12).Draw(t, "children") {
		list = append(list, next)
		next += int32(rapid.IntRange(1, 1000).Draw(t, "gap"))
	}
	return list
}

// madeUp draws names that no server has made.
func madeUp(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{
		"lock-", "lock-x", "lock-1", "lock-+123456789", "lock-00000000001", "lock--0000000000",
		"lock-99999999999",
		"other-0000000001", "0000000001", "lock-0000000001x", "lock-−000000001", "lock-00000_0001",
	}), 0, 5).Draw(t, "made up")
}

func namesInOrder(queue []Numbered) []string {
	var names []string
	for _, n := range queue {
		names = append(names, n.Name)
	}
	return names
}

// TestSortNumberedIsByAge for all numbers, orders of the list, and foreign names.
func TestSortNumberedIsByAge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		for _, seq := range someNumbers(t) {
			want = append(want, serverName(seq))
		}
		shuffled := rapid.Permutation(append(madeUp(t), want...)).Draw(t, "listed")
		if got := namesInOrder(SortNumbered(shuffled, "lock-")); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if got := SortBySequence(shuffled, "lock-"); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestFarOffNumbersDoNotDisturb the order of the server's numbers. With comparisons of pairs they
// would.
func TestFarOffNumbersDoNotDisturb(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []string
		for _, seq := range someNumbers(t) {
			want = append(want, serverName(seq))
		}
		var off []string
		for _, seq := range rapid.SliceOfN(rapid.Int32(), 0, 5).Draw(t, "far off") {
			if name := serverName(seq); !slices.Contains(want, name) &&
				!slices.Contains(off, name) {
				off = append(off, name)
			}
		}
		all := append(slices.Clone(want), off...)
		listed := rapid.Permutation(all).Draw(t, "listed")
		sorted := namesInOrder(SortNumbered(listed, "lock-"))
		if again := namesInOrder(
			SortNumbered(rapid.Permutation(all).Draw(t, "again"), "lock-"),
		); !slices.Equal(again, sorted) {
			t.Fatalf("%v, and in another order %v", sorted, again)
		}
		if len(sorted) != len(all) {
			t.Fatalf("%d of %d names", len(sorted), len(all))
		}
		got := slices.DeleteFunc(sorted, func(name string) bool {
			return !slices.Contains(want, name)
		})
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
