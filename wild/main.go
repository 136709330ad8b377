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
	"github.com/zksim/zksim/cli"
	"github.com/zksim/zksim/fuzz/scenario"
)

func main() { cli.Main(libraries()...) }

// libraries are the workloads, one for each part of a library.
func libraries() []scenario.Workload {
	return []scenario.Workload{
		goZookeeperLock(), samuelLock(), dubbogoLock(), vaultLock(),
		goKitRegistry(), gostRegistry(), prometheusDiscovery(),
	}
}
