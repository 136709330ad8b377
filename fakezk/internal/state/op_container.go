package state

import "github.com/zksim/zksim/fakezk/internal/proto"

// deleteContainer is the server's own request. It checks no ACL and refuses only nodes
// that are ephemeral or have children. A client's request is always refused: the Java
// server takes the whole frame for the path.
//
// Source: the case deleteContainer of PrepRequestProcessor.
func (d *draft) deleteContainer(q *proto.DeleteContainer) proto.ErrCode {
	if d.by.Session != 0 || !splittable(q.Path) || special(q.Path) {
		return proto.BadArguments
	}
	rec, ok := d.find(q.Path)
	if !ok {
		return proto.NoNode
	}
	if rec.numChildren > 0 {
		return proto.NotEmpty
	}
	if rec.ephemeral {
		return proto.BadVersion
	}
	parentPath := parentOf(q.Path)
	parent, _ := d.find(parentPath)
	d.recordDelete(q.Path, parentPath, parent)
	return proto.OK
}

// reapable has the paths of the nodes that the server deletes by itself.
type reapable struct{ containers, ttls concurrentSet[string] }

func (r *reapable) add(path string, kind Kind) {
	switch kind {
	case KindContainer:
		r.containers.add(path, JavaHash(path))
	case KindTTL:
		r.ttls.add(path, JavaHash(path))
	}
}

func (r *reapable) remove(path string, kind Kind) {
	switch kind {
	case KindContainer:
		r.containers.remove(path)
	case KindTTL:
		r.ttls.remove(path)
	}
}

// HasReapable reports whether there is a container or TTL node at all.
func (s *Store) HasReapable() bool { return s.reapable.containers.len()+s.reapable.ttls.len() > 0 }

// Reapable returns the paths of the nodes that the server deletes, with one
// [proto.DeleteContainer] each, if it looks for them at now, in milliseconds since the
// Unix epoch: containers without children that have had some, and childless TTL nodes
// unmodified for longer than their ttl. The order is the real server's.
//
// Source: ContainerManager.getCandidates.
func (s *Store) Reapable(now int64) []string {
	var candidates []string
	for _, path := range snapshot(&s.reapable.containers) {
		if n, ok := s.tree.find(path); ok && n.numChildren() == 0 && n.counter > 0 {
			candidates = append(candidates, path)
		}
	}
	for _, path := range snapshot(&s.reapable.ttls) {
		if n, ok := s.tree.find(path); ok && n.numChildren() == 0 && now-n.mtime > n.ttlMs {
			candidates = append(candidates, path)
		}
	}
	return hashed(pathsTable, candidates)
}

// snapshot lists the keys in the order of a HashSet made from the set.
func snapshot(set *concurrentSet[string]) []string {
	var keys []string
	for key := range set.all() {
		keys = append(keys, key)
	}
	return hashed(max(int(float32(len(keys))/0.75)+1, pathsTable), keys)
}
