package state

import (
	"iter"
	"slices"
)

// A concurrentSet is a set with the order of a java.util.concurrent.ConcurrentHashMap,
// in which a real server keeps the identities of a connection and the paths of
// containers and TTL nodes. Its table doubles earlier than that of a [hashSet], and
// doubling reverses parts of a bucket. The zero value is empty.
//
// As in a hashSet, buckets do not become search trees.
//
// Source: ConcurrentHashMap.java of OpenJDK 17.
type concurrentSet[K comparable] struct {
	bins [][]member[K]
	size int
}

type member[K comparable] struct {
	key  K
	hash uint32 // after spread
}

// concurrentTable is the size of the first table.
const concurrentTable = 16

// add puts a key with its hash code into the set, unless it is there.
func (c *concurrentSet[K]) add(key K, code uint32) {
	if c.bins == nil {
		c.grow()
	}
	m := member[K]{key, spread(code)}
	bin := c.bin(m.hash)
	if slices.Contains(*bin, m) {
		return
	}
	*bin = append(*bin, m)
	if len(*bin) > treeAt && len(c.bins) < treeTable {
		// Java makes room for three keys per bucket, rounded up.
		for want := 4 * len(c.bins); len(c.bins)*3/4 < want; {
			c.grow()
		}
	}
	c.size++
	if c.full(c.size) {
		c.grow()
	}
}

// full reports whether the table doubles at this number of keys.
func (c *concurrentSet[K]) full(size int) bool { return size >= len(c.bins)*3/4 }

func (c *concurrentSet[K]) bin(hash uint32) *[]member[K] {
	return &c.bins[int(hash)&(len(c.bins)-1)]
}

// remove deletes a key, if it is there.
func (c *concurrentSet[K]) remove(key K, code uint32) {
	if c.size == 0 {
		return
	}
	bin := c.bin(spread(code))
	if i := slices.Index(*bin, member[K]{key, spread(code)}); i >= 0 {
		*bin = slices.Delete(*bin, i, i+1)
		c.size--
	}
}

// grow doubles the table, or makes the first one. The longest run of keys at the end
// of a bucket that move to the same new bucket keeps its order; the keys before it are
// put in front, in reverse order.
func (c *concurrentSet[K]) grow() {
	old := c.bins
	c.bins = make([][]member[K], max(2*len(old), concurrentTable))
	for _, bin := range old {
		run, bit := 0, uint32(len(old))
		for i, m := range bin {
			if m.hash&bit != bin[run].hash&bit {
				run = i
			}
		}
		slices.Reverse(bin[:run])
		for _, m := range bin {
			*c.bin(m.hash) = append(*c.bin(m.hash), m)
		}
	}
}

// all visits the keys in Java's order. The set must not change meanwhile.
func (c *concurrentSet[K]) all() iter.Seq[K] {
	return func(yield func(K) bool) {
		for _, bin := range c.bins {
			for _, m := range bin {
				if !yield(m.key) {
					return
				}
			}
		}
	}
}

// clone returns an independent copy with the same order, now and later.
func (c *concurrentSet[K]) clone() concurrentSet[K] {
	bins := slices.Clone(c.bins)
	for i := range bins {
		bins[i] = slices.Clone(bins[i])
	}
	return concurrentSet[K]{bins: bins, size: c.size}
}
