package fourletter

import (
	"cmp"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/state"
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
	type entry struct {
		key    K
		bucket int
	}
	entries := make([]entry, len(keys))
	for i, k := range keys {
		h := uint32(hash(k))
		entries[i] = entry{k, int(h^h>>16) & (capacity - 1)}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.bucket, b.bucket) })
	ordered := make([]K, len(keys))
	for i := range entries {
		ordered[i] = entries[i].key
	}
	return ordered
}

// stringHash is java.lang.String.hashCode.
func stringHash(s string) int32 { return int32(state.JavaHash(s)) }

// longHash is java.lang.Long.hashCode.
func longHash(v int64) int32 { return int32(v ^ int64(uint64(v)>>32)) }
