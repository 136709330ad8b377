package state

import "iter"

// A hashSet is a set with the order of a java.util.HashSet<String>, the order in which a real
// server lists children and ephemeral nodes. A key's bucket is its hash modulo the size of the
// table; within a bucket the order is that of insertion. The table doubles when three quarters
// full, which keeps the order within each half, and never shrinks.
//
// In Java a bucket with nine keys, in a table of 64 or more, becomes a search tree. Here it gets a
// [bucketIndex]: its keys may come in another order than on a real server. Names with running
// numbers never fill a bucket so much; some hundred thousand random names sometimes do.
//
// Source: HashMap.java of OpenJDK 17; its users are DataNode.java and DataTree.java of
// ZooKeeper 3.8.
type hashSet struct {
	table   []*element
	size    int
	bytes   int                  // of the keys
	indexes map[int]*bucketIndex // the buckets with more than indexAt elements
	listed  []string             // the last result of keys; nil if the set has changed since
}

// maxListed bounds the number of keys in hashSet.listed, which takes 16 bytes per key.
const maxListed = 4096

// Sizes of new tables: a znode's children, and sets of paths.
const (
	childrenTable = 8
	pathsTable    = 16
)

// An element is a key in a hashSet. It can be in one set only.
type element struct {
	key  string
	hash uint32 // after spread; set by put
	next *element
	node *node // in a set of children, the node named key; nil in a set of paths
}

// newHashSet returns an empty set. The size of the table is a power of two.
func newHashSet(table int) *hashSet { return &hashSet{table: make([]*element, table)} }

// len is the number of keys. A nil set is empty.
func (h *hashSet) len() int {
	if h == nil {
		return 0
	}
	return h.size
}

// listBytes is the length of a list of the keys on the wire.
func (h *hashSet) listBytes() int {
	if h == nil {
		return 0
	}
	return h.bytes + 4*h.size
}

// get returns the element with a key, or nil.
func (h *hashSet) get(key string) *element {
	if h.len() == 0 {
		return nil
	}
	if link := h.find(key); link != nil {
		return *link
	}
	return nil
}

// find returns the link to the element with a key, or nil.
func (h *hashSet) find(key string) **element {
	hash := spread(JavaHash(key))
	bucket := h.bucket(hash)
	link := &h.table[bucket]
	if c := h.indexes[bucket]; c != nil {
		before, known := c.before[key]
		if !known {
			return nil
		}
		if before != nil {
			link = &before.next
		}
		return link
	}
	for ; *link != nil; link = &(*link).next {
		if e := *link; e.hash == hash && e.key == key {
			return link
		}
	}
	return nil
}

func (h *hashSet) bucket(hash uint32) int { return int(hash) & (len(h.table) - 1) }

// put adds an element. The set must not contain its key.
func (h *hashSet) put(e *element) {
	e.hash, e.next, h.listed = spread(JavaHash(e.key)), nil, nil
	if before := h.appendTo(h.bucket(e.hash), e); before >= treeAt && len(h.table) < treeTable {
		h.grow()
	}
	h.size++
	h.bytes += len(e.key)
	if h.size > len(h.table)*3/4 {
		h.grow()
	}
}

// appendTo puts an element at the end of a bucket and returns the number of elements before it. For
// a bucket with an index the number is only known to be more than indexAt.
func (h *hashSet) appendTo(bucket int, e *element) int {
	if c := h.indexes[bucket]; c != nil {
		c.last.next = e
		c.add(e)
		return indexAt + 1
	}
	link, before := &h.table[bucket], 0
	for ; *link != nil; link = &(*link).next {
		before++
	}
	*link = e
	if before >= indexAt {
		if h.indexes == nil {
			h.indexes = map[int]*bucketIndex{}
		}
		h.indexes[bucket] = newBucketIndex(h.table[bucket])
	}
	return before
}

// grow doubles the table.
func (h *hashSet) grow() {
	h.indexes = nil
	old := h.table
	h.table = make([]*element, 2*len(old))
	for i, e := range old {
		low, high := &h.table[i], &h.table[i+len(old)]
		for ; e != nil; e = e.next {
			if e.hash&uint32(len(old)) == 0 {
				*low, low = e, &e.next
			} else {
				*high, high = e, &e.next
			}
		}
		*low, *high = nil, nil
	}
}

// remove deletes the element with a key, if there is one.
func (h *hashSet) remove(key string) {
	if h.len() == 0 {
		return
	}
	link := h.find(key)
	if link == nil {
		return
	}
	e := *link
	if c := h.indexes[h.bucket(e.hash)]; c != nil {
		c.remove(e)
	}
	*link, e.next, h.listed = e.next, nil, nil
	h.size--
	h.bytes -= len(e.key)
}

// all visits the elements in Java's order. The set must not change meanwhile.
func (h *hashSet) all() iter.Seq[*element] {
	return func(yield func(*element) bool) {
		if h.len() == 0 {
			return
		}
		for _, e := range h.table {
			for ; e != nil; e = e.next {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// keys lists the keys in Java's order. The list must not be written to: until the set
// changes, keys returns the same one.
func (h *hashSet) keys() []string {
	if h == nil {
		return []string{}
	}
	if h.listed != nil {
		return h.listed
	}
	keys := make([]string, 0, h.len())
	for e := range h.all() {
		keys = append(keys, e.key)
	}
	if len(keys) <= maxListed {
		h.listed = keys
	}
	return keys
}

// clonedKeys lists the keys in the order of HashSet.clone. The clone's table is as
// large as the present keys need; the original's never shrinks.
func (h *hashSet) clonedKeys() []string {
	return hashed(int(float32(h.len())/0.75+1), h.keys())
}

// hashed returns the keys in the order of a HashSet that was made with an initial
// capacity and to which they were added one by one.
func hashed(capacity int, keys []string) []string {
	table := 1
	for table < capacity {
		table *= 2
	}
	set, elements := newHashSet(table), make([]element, len(keys))
	for i, key := range keys {
		elements[i].key = key
		set.put(&elements[i])
	}
	return set.keys()
}
