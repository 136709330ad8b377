package fourletter

import (
	"cmp"
	"slices"
	"unicode/utf16"
)

// hashOrder returns keys in the order of a java.util.HashMap that has never had more
// than these. Keys that share a bucket keep their order.
func hashOrder[K any](keys []K, hash func(K) int32) []K {
	return bucketOrder(keys, hash, func(n, capacity int) bool { return n > capacity/4*3 })
}

// concurrentOrder is hashOrder for a java.util.concurrent.ConcurrentHashMap, which
// doubles its table one entry earlier.
func concurrentOrder[K any](keys []K, hash func(K) int32) []K {
	return bucketOrder(keys, hash, func(n, capacity int) bool { return n >= capacity/4*3 })
}

func bucketOrder[K any](keys []K, hash func(K) int32, full func(n, capacity int) bool) []K {
	capacity := 16
	for full(len(keys), capacity) {
		capacity *= 2
	}
	bucket := func(k K) int {
		h := uint32(hash(k))
		return int(h^h>>16) & (capacity - 1)
	}
	ordered := slices.Clone(keys)
	slices.SortStableFunc(ordered, func(a, b K) int { return cmp.Compare(bucket(a), bucket(b)) })
	return ordered
}

// stringHash is java.lang.String.hashCode.
func stringHash(s string) int32 {
	var h int32
	for _, unit := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(unit)
	}
	return h
}

// longHash is java.lang.Long.hashCode.
func longHash(v int64) int32 { return int32(v ^ int64(uint64(v)>>32)) }

// javaLength is java.lang.String.length.
func javaLength(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > 0xFFFF {
			n++
		}
	}
	return n
}
