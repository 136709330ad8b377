package refstore

// Stat is ZooKeeper's Stat record without its two times.
type Stat struct {
	Czxid          int64 // zxid of the create
	Mzxid          int64 // zxid of the last change of data
	Pzxid          int64 // zxid of the last create or delete of a child
	Version        int32 // changes of data
	Cversion       int32 // creates and deletes of children
	Aversion       int32 // changes of the ACL
	EphemeralOwner int64 // owning session, 0 for a persistent znode
	DataLength     int32
	NumChildren    int32
}

// Mode is the flags field of a create request.
type Mode int32

// The modes of a create. Containers (4) and TTL nodes (5, 6) are not modelled.
const (
	Persistent           Mode = 0
	Ephemeral            Mode = 1
	PersistentSequential Mode = 2
	EphemeralSequential  Mode = 3
)

func (m Mode) ephemeral() bool  { return m == Ephemeral || m == EphemeralSequential }
func (m Mode) sequential() bool { return m == PersistentSequential || m == EphemeralSequential }

type node struct {
	data     []byte // nil and empty are different things
	acl      []ACL
	czxid    int64
	mzxid    int64
	pzxid    int64
	version  int32
	aversion int32
	owner    int64
	creates  int32 // children ever created here: the next sequence number
}

// stat computes the Stat of the znode. A server shows as cversion the creates of children plus
// their deletes, and keeps only the creates (DataNode.copyStat): twice the creates, less the
// children there are.
func (s *Store) stat(path string) Stat {
	n, children := s.nodes[path], int32(len(s.childNames(path)))
	return Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: n.pzxid,
		Version: n.version, Cversion: 2*n.creates - children, Aversion: n.aversion,
		EphemeralOwner: n.owner, DataLength: int32(len(n.data)), NumChildren: children,
	}
}
