package engine

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// never is a time in milliseconds that is not reached.
const never = math.MaxInt64

// An expiryQueue holds keys by their time of expiry in milliseconds. Times are rounded
// to ticks, so there are few of them.
type expiryQueue[K cmp.Ordered] struct {
	buckets map[int64]map[K]struct{}
	first   int64 // the earliest time of a key, or never
}

func newExpiryQueue[K cmp.Ordered]() expiryQueue[K] {
	return expiryQueue[K]{buckets: map[int64]map[K]struct{}{}, first: never}
}

func (q *expiryQueue[K]) add(k K, at int64) {
	bucket := q.buckets[at]
	if bucket == nil {
		bucket = map[K]struct{}{}
		q.buckets[at] = bucket
		q.first = min(q.first, at)
	}
	bucket[k] = struct{}{}
}

// remove removes a key, if it is there.
func (q *expiryQueue[K]) remove(k K, at int64) {
	bucket := q.buckets[at]
	delete(bucket, k)
	if bucket == nil || len(bucket) > 0 {
		return
	}
	delete(q.buckets, at)
	if at == q.first {
		q.first = never
		for other := range q.buckets {
			q.first = min(q.first, other)
		}
	}
}

// due returns the keys with the earliest time, in order, or nil if that is after now.
func (q *expiryQueue[K]) due(now int64) []K {
	if q.first > now {
		return nil
	}
	return slices.Sorted(maps.Keys(q.buckets[q.first]))
}
