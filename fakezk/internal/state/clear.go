package state

import "slices"

// Clear removes all nodes but those of [New]. These get their first data and ACL, and their
// sequence numbers go on. There must be no session. Clear consumes a zxid, without a Txn or an
// event; it takes as long for a million nodes as for one.
func (s *Store) Clear() {
	old := s.tree
	s.drawn++
	s.last = s.drawn
	s.tree = newTree(s.cfg)
	s.quotas, s.reapable = newQuotas(&s.tree), reapable{}
	for _, path := range []string{"/", systemRoot, quotaRoot, systemRoot + "/config"} {
		was, _ := old.find(path)
		n, _ := s.tree.find(path)
		first := *n
		*n = *was
		n.element, n.children, n.size = first.element, first.children, first.size
		if n.numChildren() != was.numChildren() {
			n.pzxid = s.last
		}
		if !slices.Equal(was.data, first.data) || was.data == nil {
			n.data, n.mzxid, n.version = first.data, s.last, n.version+1
		}
		if !slices.Equal(was.acl, first.acl) {
			n.acl, n.aversion = first.acl, n.aversion+1
		}
		n.digest = first.digest
		s.tree.digest.update(path, n)
	}
	s.tree.digest.kept = old.digest.kept
	s.tree.digest.keep(s.last)
}
