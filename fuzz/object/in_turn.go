package object

import (
	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/sim"
)

// Conn has the methods of *zk.Conn that an object in turn may use; see [Env.InTurn].
type Conn interface {
	Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error)
	CreateContainer(path string, data []byte, flags int32, acl []zk.ACL) (string, error)
	Delete(path string, version int32) error
	Exists(path string) (bool, *zk.Stat, error)
	ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error)
	Get(path string) ([]byte, *zk.Stat, error)
	GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error)
	Set(path string, data []byte, version int32) (*zk.Stat, error)
	Children(path string) ([]string, *zk.Stat, error)
	ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error)
	Sync(path string) (string, error)
	Multi(ops ...any) ([]zk.MultiResponse, error)
	SessionID() int64
	State() zk.State
}

// inTurn is a connection on which the goroutines of a client send their requests one after the
// other, each in its turn ([sim.AwaitTurn]). After some replies a goroutine waits, as if the
// scheduler had suspended it. Without inTurn the outcome of equal requests of several goroutines
// would depend on the Go scheduler, and two runs of a scenario could differ. With one goroutine it
// changes nothing.
type inTurn struct{ conn *zk.Conn }

func (c inTurn) SessionID() int64 { return c.conn.SessionID() }
func (c inTurn) State() zk.State  { return c.conn.State() }

func (c inTurn) Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	sim.AwaitTurn("Create " + path)
	defer sim.Linger()
	return c.conn.Create(path, data, flags, acl)
}

func (c inTurn) CreateContainer(
	path string, data []byte, flags int32, acl []zk.ACL,
) (string, error) {
	sim.AwaitTurn("CreateContainer " + path)
	defer sim.Linger()
	return c.conn.CreateContainer(path, data, flags, acl)
}

func (c inTurn) Delete(path string, version int32) error {
	sim.AwaitTurn("Delete " + path)
	defer sim.Linger()
	return c.conn.Delete(path, version)
}

func (c inTurn) Exists(path string) (bool, *zk.Stat, error) {
	sim.AwaitTurn("Exists " + path)
	defer sim.Linger()
	return c.conn.Exists(path)
}

func (c inTurn) ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error) {
	sim.AwaitTurn("ExistsW " + path)
	defer sim.Linger()
	return c.conn.ExistsW(path)
}

func (c inTurn) Get(path string) ([]byte, *zk.Stat, error) {
	sim.AwaitTurn("Get " + path)
	defer sim.Linger()
	return c.conn.Get(path)
}

func (c inTurn) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	sim.AwaitTurn("GetW " + path)
	defer sim.Linger()
	return c.conn.GetW(path)
}

func (c inTurn) Set(path string, data []byte, version int32) (*zk.Stat, error) {
	sim.AwaitTurn("Set " + path)
	defer sim.Linger()
	return c.conn.Set(path, data, version)
}

func (c inTurn) Children(path string) ([]string, *zk.Stat, error) {
	sim.AwaitTurn("Children " + path)
	defer sim.Linger()
	return c.conn.Children(path)
}

func (c inTurn) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	sim.AwaitTurn("ChildrenW " + path)
	defer sim.Linger()
	return c.conn.ChildrenW(path)
}

func (c inTurn) Sync(path string) (string, error) {
	sim.AwaitTurn("Sync " + path)
	defer sim.Linger()
	return c.conn.Sync(path)
}

func (c inTurn) Multi(ops ...any) ([]zk.MultiResponse, error) {
	sim.AwaitTurn("Multi" + pathsOf(ops))
	defer sim.Linger()
	return c.conn.Multi(ops...)
}

// pathsOf lists the paths of a transaction's operations, each after a space.
func pathsOf(ops []any) string {
	text := ""
	for _, op := range ops {
		switch r := op.(type) {
		case *zk.CreateRequest:
			text += " " + r.Path
		case *zk.DeleteRequest:
			text += " " + r.Path
		case *zk.SetDataRequest:
			text += " " + r.Path
		case *zk.CheckVersionRequest:
			text += " " + r.Path
		}
	}
	return text
}
