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
	"strings"
	"time"

	"github.com/zksim/zksim/cli"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
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
	}
}
