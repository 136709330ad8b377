package request

import (
	"cmp"
	"fmt"
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

// Sequence returns the sequence number in the name or path of a sequential node: the digits behind
// the last occurrence of marker. marker is the end of the name that was given to create, such as
// "lock-". It returns false for other names. The number is negative when the parent's counter has
// passed 2147483647 (ZOOKEEPER-4372). Only the marker distinguishes its minus sign from a hyphen in
// the name.
func Sequence(name, marker string) (int32, bool) {
	n, ok := parseNumbered(name, marker)
	return n.Seq, ok
}

// SortBySequence returns those of the names that have a sequence number behind marker, oldest
// first. It leaves names as they are. Numbers are comparable only between children of one parent
// that was not deleted meanwhile. The order is right across the wrap from 2147483647 to
// -2147483648, which servers before 3.6 make. Made-up names with numbers far from the server's come
// first or last. They do not change the order of the others as long as the gap around the others is
// larger than any gap between them. Names of the same number are sorted by their text. Nodes get
// the same number when the numbers of a directory are used up.
func SortBySequence(names []string, marker string) []string {
	var out []string
	for _, n := range SortNumbered(names, marker) {
		out = append(out, n.Name)
	}
	return out
}

// parseNumbered reads the sequence number behind the first of the markers that name contains, at
// the last occurrence of that marker. It returns false for a foreign name. The server prints the
// number with %010d: at least ten characters, a '-' included when the counter has passed 2147483647
// and gone negative (ZOOKEEPER-4372).
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
