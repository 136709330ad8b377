package state

import "unicode/utf16"

// JavaHash is String.hashCode, computed over UTF-16 units.
func JavaHash(s string) uint32 {
	var h uint32
	for _, r := range s {
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			h = 31*h + uint32(high)
			r = low
		}
		h = 31*h + uint32(r)
	}
	return h
}

// spread mixes the upper half of a hash code into the lower half: java.util's tables
// use only the lowest bits.
func spread(h uint32) uint32 { return h ^ h>>16 }

// A bucket that grows beyond treeAt elements makes a java.util table of fewer than
// treeTable buckets grow, and becomes a search tree in a larger one.
const (
	treeAt    = 8
	treeTable = 64
)

// JavaLength is java.lang.String.length.
func JavaLength(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}
