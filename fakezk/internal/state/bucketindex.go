package state

// indexAt is the number of elements up to which a bucket of a hashSet has no index.
const indexAt = 64

// A bucketIndex is the index of a bucket with many elements. A client can choose names that all
// fall in one bucket; with the index each name still costs the same.
type bucketIndex struct {
	before map[string]*element // by key, the element before; nil for the first one
	last   *element
}

// newBucketIndex returns the index of a bucket that begins with an element.
func newBucketIndex(first *element) *bucketIndex {
	c := &bucketIndex{before: map[string]*element{}}
	for e := first; e != nil; e = e.next {
		c.add(e)
	}
	return c
}

// add adds the element after the last one.
func (c *bucketIndex) add(e *element) {
	c.before[e.key] = c.last
	c.last = e
}

// remove forgets an element that is still in the bucket.
func (c *bucketIndex) remove(e *element) {
	before := c.before[e.key]
	delete(c.before, e.key)
	if e.next != nil {
		c.before[e.next.key] = before
	} else {
		c.last = before
	}
}
