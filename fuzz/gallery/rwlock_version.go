package gallery

import (
	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

var plantedVersionLocks = []Exhibit{
	{Title: "looks and then enters", Property: safety, Wrong: versionLockOf(
		func(*zk.Conn) int32 { return -1 })},
	{Title: "reads the version after it has looked", Property: safety, Wrong: versionLockOf(
		func(conn *zk.Conn) int32 {
			_, stat, err := conn.Get(lockDir)
			if err != nil {
				return -1
			}
			return stat.Version
		})},
}

// versionLockOf is a workload of the version lock of package recipes. A contender enters if the
// node has a certain version. The right one is that before its look at the children.
func versionLockOf(version func(*zk.Conn) int32) scenario.Workload {
	return object.RWLock(func(env object.Env) object.RWLocker {
		return recipes.NewVersionRWLock(otherVersion{env.Conn, version}, lockDir)
	}, claims)
}

// otherVersion is a connection that enters by another version.
type otherVersion struct {
	*zk.Conn
	version func(*zk.Conn) int32
}

func (c otherVersion) Multi(requests ...any) ([]zk.MultiResponse, error) {
	for _, request := range requests {
		if set, ok := request.(*zk.SetDataRequest); ok {
			set.Version = c.version(c.Conn)
		}
	}
	return c.Conn.Multi(requests...)
}
