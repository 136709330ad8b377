package request

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Numbered is a child with a name that ends in a sequence number of the server.
type Numbered struct {
	Name   string
	Marker string // the part before the number
	Seq    int32
}

// Sequence returns the sequence number behind the last marker in a name; see recipes.Sequence.
func Sequence(name, marker string) (int32, bool) {
	n, ok := parseNumbered(name, marker)
	return n.Seq, ok
}

// SortBySequence returns the names with a sequence number, oldest first; see
// recipes.SortBySequence.
func SortBySequence(names []string, marker string) []string {
	var out []string
	for _, n := range SortNumbered(names, marker) {
		out = append(out, n.Name)
	}
	return out
}

// parseNumbered reads the sequence number of a name. The first of the markers that occurs in the
// name counts, and the number stands behind its last occurrence. It returns false for a foreign
// name. The server prints the number with %010d. These are at least ten characters, with a '-' if
// the counter has passed 2147483647 and is negative (ZOOKEEPER-4372).
func parseNumbered(name string, markers ...string) (Numbered, bool) {
	for _, marker := range markers {
		at := strings.LastIndex(name, marker)
		if at < 0 {
			continue
		}
		digits := name[at+len(marker):]
		seq, err := strconv.ParseInt(digits, 10, 32)
		if err != nil || fmt.Sprintf("%010d", seq) != digits {
			return Numbered{}, false
		}
		return Numbered{Name: name, Marker: marker, Seq: int32(seq)}, true
	}
	return Numbered{}, false
}

// SortNumbered returns the children that carry one of the markers, oldest first. Foreign children
// are left out. The numbers lie on a circle, which is cut at its largest gap. A comparison of pairs
// would not be transitive if numbers lie more than half a circle apart, as made-up numbers may.
func SortNumbered(names []string, markers ...string) []Numbered {
	var out []Numbered
	for _, name := range names {
		if n, ok := parseNumbered(name, markers...); ok {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b Numbered) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), strings.Compare(a.Name, b.Name))
	})
	first := oldest(out)
	return append(out[first:len(out):len(out)], out[:first]...)
}

// oldest returns the index of the number behind the largest gap. The numbers are in ascending
// order. Of several gaps of that size it takes the one with the smallest number behind it.
func oldest(sorted []Numbered) int {
	first, largest := 0, uint32(0)
	for i, n := range sorted {
		before := sorted[(i+len(sorted)-1)%len(sorted)]
		if gap := uint32(n.Seq - before.Seq); gap > largest {
			first, largest = i, gap
		}
	}
	return first
}

// ErrNumbersUsedUp says that the sequence numbers of a directory are used up; see
// recipes.ErrNumbersUsedUp.
var ErrNumbersUsedUp = errors.New("sequence numbers are used up")

// overshoot is the number of values from -2147483648 on that are not unique. While creations are on
// their way through a server or in one transaction, its counter goes beyond 2147483647; it falls
// back when they are applied. overshoot is larger than the number of requests that a server lets in
// at a time (globalOutstandingLimit, 1000 unless set otherwise).
const overshoot = 1 << 16

// LastNumber returns an error for a number that several children of dir can have, otherwise nil.
// Since ZooKeeper 3.6 (ZOOKEEPER-3249) a directory's counter never wraps: it stays at 2147483647.
// Children with the same number are sorted by their names, which begin with a GUID, so a newcomer
// may come before the holder of a lock. The czxid cannot decide instead: a reader beside a write
// lock, and an element that is put back, have places by their numbers, not by their creation.
func LastNumber(dir string, seq int32) error {
	if IsUnique(seq) {
		return nil
	}
	return fmt.Errorf(
		"%w: a child of %s got %d, as others may; "+
			"use a new directory, or delete this one once it is empty",
		ErrNumbersUsedUp, dir, seq,
	)
}

// IsUnique reports whether a directory gives the number to one child only.
func IsUnique(seq int32) bool { return seq < math.MaxInt32 && seq >= math.MinInt32+overshoot }
