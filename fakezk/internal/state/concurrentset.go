package state

import "iter"

// A concurrentSet is a set with the order of a java.util.concurrent.ConcurrentHashMap,
// in which a real server keeps the identities of a connection and the paths of
// containers and TTL nodes. Its table doubles earlier than that of a [hashSet], and
// doubling reverses parts of a bucket. The zero value is empty.
//
// As in a hashSet, buckets do not become search trees.
//
// Source: ConcurrentHashMap.java of OpenJDK 17.
type concurrentSet[K comparable] struct {
	bins    []bin[K]
	members map[K]*member[K]
}

// A bin is a list of the members of one bucket.
type bin[K comparable] struct {
	first, last *member[K]
	size        int
}

type member[K comparable] struct {
	key        K
	hash       uint32 // after spread
	prev, next *member[K]
}

// concurrentTable is the size of the first table.
const concurrentTable = 16

// len is the number of keys.
func (c *concurrentSet[K]) len() int { return len(c.members) }

// add puts a key with its hash code into the set, unless it is there.
func (c *concurrentSet[K]) add(key K, code uint32) {
	if len(c.bins) == 0 {
		c.grow()
		c.members = map[K]*member[K]{}
	}
	if c.members[key] != nil {
		return
	}
	m := &member[K]{key: key, hash: spread(code)}
	c.members[key] = m
	b := c.bin(m.hash)
	b.append(m)
	if b.size > treeAt && len(c.bins) < treeTable {
		// Java makes room for three keys per bucket, rounded up.
		for want := 4 * len(c.bins); len(c.bins)*3/4 < want; {
			c.grow()
		}
	}
	if len(c.members) >= len(c.bins)*3/4 {
		c.grow()
	}
}

func (c *concurrentSet[K]) bin(hash uint32) *bin[K] {
	return &c.bins[int(hash)&(len(c.bins)-1)]
}

// append puts a member at the end of the bin.
func (b *bin[K]) append(m *member[K]) {
	m.prev, m.next = b.last, nil
	if b.last == nil {
		b.first = m
	} else {
		b.last.next = m
	}
	b.last = m
	b.size++
}

// remove deletes a key, if it is there.
func (c *concurrentSet[K]) remove(key K) {
	m := c.members[key]
	if m == nil {
		return
	}
	delete(c.members, key)
	b := c.bin(m.hash)
	if m.prev == nil {
		b.first = m.next
	} else {
		m.prev.next = m.next
	}
	if m.next == nil {
		b.last = m.prev
	} else {
		m.next.prev = m.prev
	}
	b.size--
}

// grow doubles the table, or makes the first one. The longest run of keys at the end
// of a bucket that move to the same new bucket keeps its order; the keys before it are
// put in front, in reverse order.
func (c *concurrentSet[K]) grow() {
	old := c.bins
	c.bins = make([]bin[K], max(2*len(old), concurrentTable))
	for _, b := range old {
		run, bit := b.first, uint32(len(old))
		for m := b.first; m != nil; m = m.next {
			if m.hash&bit != run.hash&bit {
				run = m
			}
		}
		if run == nil {
			continue
		}
		for m := run.prev; m != nil; {
			before := m.prev
			c.bin(m.hash).append(m)
			m = before
		}
		for m := run; m != nil; {
			after := m.next
			c.bin(m.hash).append(m)
			m = after
		}
	}
}

// all visits the keys in Java's order. The set must not change meanwhile.
func (c *concurrentSet[K]) all() iter.Seq[K] {
	return func(yield func(K) bool) {
		for _, b := range c.bins {
			for m := b.first; m != nil; m = m.next {
				if !yield(m.key) {
					return
				}
			}
		}
	}
}
