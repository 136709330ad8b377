package recipes

import (
	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
)

// Conn is the part of *zk.Conn that the recipes use. Its methods behave as those of package zk:
// they may be called from several goroutines, wait while the connection is down, and deliver at
// most one event on a watch channel.
//
// Several recipes may share one Conn, and with it one session.
type Conn interface {
	Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error)
	CreateContainer(path string, data []byte, flag int32, acl []zk.ACL) (string, error)
	Delete(path string, version int32) error
	Exists(path string) (bool, *zk.Stat, error)
	ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error)
	Get(path string) ([]byte, *zk.Stat, error)
	GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error)
	Set(path string, data []byte, version int32) (*zk.Stat, error)
	Children(path string) ([]string, *zk.Stat, error)
	ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error)
	Sync(path string) (string, error)
	Multi(ops ...interface{}) ([]zk.MultiResponse, error)
	SessionID() int64
	State() zk.State
}

var _ Conn = (*zk.Conn)(nil)

// Chroot returns a Conn that shows the nodes below path as if path were the root: /locks stands for
// <path>/locks, and / for path. Several applications or tests can then share an ensemble without a
// change to their paths. A client in another language sees the same nodes with the chroot suffix
// "host:2181/path".
//
// Paths are translated in requests, in results, in transactions and in the events of watches. Names
// of children are left as they are. A sequential node created at / becomes a child of path. The
// session and the state are those of conn. Chroots may be nested. For "/" and "" Chroot returns
// conn.
//
// It guarantees that no request reaches a node outside of path, except that recipes create path
// itself and the nodes above it where they are missing, as they do with their own parents.
//
// Each watch has a goroutine, which ends with the watch: when it fires, or when conn is closed. An
// event can arrive a moment after the reply that follows it on the connection.
//
// Sources: the chroot of ZooKeeper's own client and of kazoo; Curator's usingNamespace.
func Chroot(conn Conn, path string) Conn { return request.Chroot(conn, path) }
