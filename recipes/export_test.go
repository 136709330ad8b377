package recipes

// What the tests of package recipes_test see of the inside.

// NodePaths returns the paths of the own nodes, one for each lock, "" for a lock that is not held.
func (m *MultiLock) NodePaths() (paths []string) {
	for _, l := range m.locks {
		paths = append(paths, l.Path())
	}
	return paths
}

// Held returns the leases that are not released.
func (s *Semaphore) Held() []*Lease { return s.held }

// EndCalls ends the calls under way, as Close does at first.
func (e *election) EndCalls() { e.tasks.Cancel(ErrClosed) }

// Readers returns the number of readers that are not closed.
func (v *view) Readers() int { return len(v.readers) }

// Item returns the path of the element.
func (d *Delivery) Item() string { return d.item }

// Avoided returns the number of registrations that are avoided.
func (l *ServiceLookup) Avoided() int { return len(l.avoided) }

// Same reports whether two states are equal.
func (v ValueState) Same(w ValueState) bool { return v.same(w) }

// Conn returns the connection of the lock.
func (l *RWLock) Conn() Conn { return l.of.Conn }
