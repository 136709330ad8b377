// Command wild puts public libraries under the hunt, as their authors publish them. They connect by
// themselves, so it needs the go command of zksim:
//
//	zksim go run -C wild . fuzz lock --impl vault
//
// Each file has the harnesses of one library. [docs/track-record.md] has the findings, testdata the
// smallest scenario of each.
//
// [docs/track-record.md]: https://github.com/zksim/zksim/blob/main/docs/track-record.md
package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/cli"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// check ends the script at the error of a library that refuses its settings or the address.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// insist tries until it succeeds, or until the script has ended.
func insist[T any](env object.Env, try func() (T, error)) (result T) {
	for env.Context.Err() == nil {
		var err error
		if result, err = try(); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return result
}

// deaf says that calls of a workload may go on after their contexts are done.
func deaf(w scenario.Workload) scenario.Workload {
	w.Deaf = true
	return w
}

// dataOf reads the data of a znode, such as a=data, as that of an instance.
func dataOf(_, znode string) (name, data string, ok bool) { return strings.Cut(znode, "=") }

func main() { cli.Main(libraries()...) }

// libraries are the workloads, one for each part of a library.
func libraries() []scenario.Workload {
	return []scenario.Workload{
		goZookeeperLock(), samuelLock(), dubbogoLock(), zDivisionLock(), vaultLock(),
		topicctlLock(), vitessLock(), vitessElection(), daprValue(), goKitRegistry(),
		goKitInstancer(), gostRegistry(), prometheusDiscovery(), kvtoolsLock(), kvtoolsValue(),
		kvtoolsWatch(), libkvLock(), libkvWatch(), confdWatch(), comcastElection(),
		hertzRegistry(), hertzLookups(), kazooGroup(), curatorLock(), curatorReentrant(),
		goZkLock(),
	}
}

// failsOnlyWithItsConnection judges a workload by the errors of its calls. Those of a connection, a
// session or a context are allowed.
func failsOnlyWithItsConnection(w scenario.Workload) scenario.Workload {
	w.Properties = []string{scenario.InvariantProperty, "liveness"}
	w.Judge = scenario.Invariants(scenario.Invariant{
		Name: "a call fails only with its connection",
		Holds: func(e scenario.Evidence) error {
			for _, op := range e.History.Ops {
				lost := slices.ContainsFunc(ofConnections, func(err error) bool {
					return strings.Contains(op.Err, err.Error())
				})
				if op.Err != "" && !lost && op.Err != linearizability.ProcessDied {
					return fmt.Errorf("%s's %s fails: %s", op.Client, op.Kind, op.Err)
				}
			}
			return nil
		},
	})
	return w
}

var ofConnections = []error{
	zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrClosing, zk.ErrNoServer,
	context.Canceled, context.DeadlineExceeded,
}
