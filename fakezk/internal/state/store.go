package state

import (
	"maps"
	"slices"
)

// Config holds the settings that the rules depend on. The zero value has the defaults of
// a real server.
type Config struct {
	// EnforceQuota refuses writes beyond a hard limit with QuotaExceeded, as the
	// property zookeeper.enforceQuota does. Without it quotas only count.
	EnforceQuota bool
	// SASL adds the ACL scheme sasl, as the authentication provider
	// SASLAuthenticationProvider does.
	SASL bool
	// Digests keeps digests of the tree, as digest.enabled=true does, a real server's default.
	Digests bool
	// Interrupted, unless nil, is asked in the course of a long multi, which fails with SystemError
	// when it returns true.
	Interrupted func() bool
	// Members is the data of /zookeeper/config, which an ensemble has.
	Members string
}

// A Store is one replica's data: the znodes, the sessions and the zxid of the
// last applied Txn. Make one with [New].
type Store struct {
	cfg      Config
	tree     tree
	quotas   quotas
	reapable reapable
	sessions map[int64]*session
	last     int64 // zxid that replies show
	drawn    int64 // last zxid that was consumed; beyond last if it was skipped
}

// SessionInfo is a session as CreateSession made it.
type SessionInfo struct {
	ID        int64
	Password  [16]byte
	TimeoutMs int32
}

type session struct {
	info       SessionInfo
	ephemerals *hashSet // paths; nil until there is a first one
}

// New returns the store of a new server: zxid 0 and the nodes "/", "/zookeeper",
// "/zookeeper/config" and "/zookeeper/quota".
func New(cfg Config) *Store {
	s := &Store{cfg: cfg, tree: newTree(cfg), sessions: map[int64]*session{}}
	s.quotas = newQuotas(&s.tree)
	return s
}

// LastZxid is the zxid of the last applied Txn that was not skipped, 0 on a fresh
// store. It belongs in the header of every reply.
func (s *Store) LastZxid() int64 { return s.last }

// NodeCount is the number of znodes, including "/" and the nodes of [New].
func (s *Store) NodeCount() int { return int(s.tree.root.size.nodes) }

// ApproximateBytes is the bytes of all data and the characters of all paths.
//
// Source: DataTree.approximateDataSize.
func (s *Store) ApproximateBytes() int64 { return s.tree.root.size.bytes + int64(s.tree.chars) }

// Session returns a session and whether it exists.
func (s *Store) Session(id int64) (SessionInfo, bool) {
	ses, ok := s.sessions[id]
	if !ok {
		return SessionInfo{}, false
	}
	return ses.info, true
}

// Sessions returns all sessions in the order of their ids.
func (s *Store) Sessions() []SessionInfo {
	infos := make([]SessionInfo, 0, len(s.sessions))
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		infos = append(infos, s.sessions[id].info)
	}
	return infos
}
