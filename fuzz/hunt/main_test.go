package hunt_test

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

var (
	run  = fuzztest.Run
	plan = fuzztest.Plan
)

func TestMain(m *testing.M) { testrun.Main(m) }

// breaks reports whether a property is violated, be it with others.
func breaks(o *scenario.Outcome, property string) bool {
	v, judged := o.Report.Verdict(property)
	return judged && v.Status == linearizability.Violated
}

// blindLock never looks for the holder, so that two clients hold it without any fault.
type blindLock struct {
	conn *zk.Conn
	node string
}

func blindLocks() scenario.Workload {
	open := func(env object.Env) object.Locker { return &blindLock{conn: env.Conn} }
	return object.Lock(open, object.LockClaims{MaxHerd: 1}).Named("blind")
}

func (l *blindLock) Lock(context.Context) (err error) {
	_, err = l.conn.Create("/lock", nil, 0, zk.WorldACL(zk.PermAll))
	if err == nil || err == zk.ErrNodeExists {
		l.node, err = l.conn.Create("/lock/n-", nil, zk.FlagEphemeralSequential,
			zk.WorldACL(zk.PermAll))
	}
	return err
}

func (l *blindLock) Unlock(context.Context) error { return l.conn.Delete(l.node, -1) }
