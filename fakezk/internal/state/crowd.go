package state

// crowdAt is the number of elements up to which a bucket of a hashSet has no index.
const crowdAt = 64

// A crowd is the index of a bucket with many elements. A client can choose names that all fall in
// one bucket; with the index each name still costs the same.
type crowd struct {
	before map[string]*element // by key, the element before; nil for the first one
	last   *element
}

// newCrowd returns the index of a bucket that begins with an element.
func newCrowd(first *element) *crowd {
	c := &crowd{before: map[string]*element{}}
	for e := first; e != nil; e = e.next {
		c.follow(e)
	}
	return c
}

// follow adds the element after the last one.
func (c *crowd) follow(e *element) {
	c.before[e.key] = c.last
	c.last = e
}

// leave forgets an element that is still in the bucket.
func (c *crowd) leave(e *element) {
	before := c.before[e.key]
	delete(c.before, e.key)
	if e.next != nil {
		c.before[e.next.key] = before
	} else {
		c.last = before
	}
}
