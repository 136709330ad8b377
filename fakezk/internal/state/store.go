package state

import (
	"maps"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
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
	root     *node
	sessions map[int64]*session
	last     int64 // zxid that replies show
	drawn    int64 // last zxid that was consumed; beyond last if it was skipped

	limits       map[string]bool       // paths with a quota
	limitLengths map[int]int           // number of limits by the length of the path
	containers   concurrentSet[string] // paths
	ttls         concurrentSet[string] // paths

	sum     int64 // of the digests of all nodes
	digests []Digest
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
	s := &Store{
		cfg: cfg, root: &node{acl: openACL, data: []byte{}, size: subtree{nodes: 1}},
		sessions: map[int64]*session{}, limits: map[string]bool{},
		limitLengths: map[int]int{},
	}
	s.addSystemNode(systemRoot, openACL)
	s.addSystemNode(quotaRoot, openACL)
	config := s.addSystemNode(systemRoot+"/config", configACL)
	config.aversion = -1
	if cfg.Members != "" {
		config.data, config.version = []byte(cfg.Members), -1
		s.addUsage(systemRoot+"/config", 0, len(cfg.Members))
	}
	s.updateDigest("/", s.root)
	return s
}

var (
	openACL   = []proto.ACL{{Perms: proto.PermAll, Scheme: "world", ID: "anyone"}}
	configACL = []proto.ACL{{Perms: proto.PermRead, Scheme: "world", ID: "anyone"}}
)

// addSystemNode adds a node without a transaction: the parent's counter stays.
func (s *Store) addSystemNode(path string, acl []proto.ACL) *node {
	n := &node{acl: acl, data: []byte{}, size: subtree{nodes: 1}}
	parent, _ := s.find(parentOf(path))
	n.attach(parent, nameOf(path))
	s.addUsage(parentOf(path), 1, 0)
	s.updateDigest(path, n)
	return n
}

// LastZxid is the zxid of the last applied Txn that was not skipped, 0 on a fresh
// store. It belongs in the header of every reply.
func (s *Store) LastZxid() int64 { return s.last }

// NodeCount is the number of znodes, including "/" and the nodes of [New].
func (s *Store) NodeCount() int { return int(s.root.size.nodes) }

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
