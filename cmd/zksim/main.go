// Command zksim hunts for bugs in code that coordinates through ZooKeeper.
//
//	zksim help                 the commands
//	zksim COMMAND --help       the flags of one
//
// The manual is the documentation of package [github.com/zksim/zksim/cli], go doc
// github.com/zksim/zksim/cli, which also makes a command like this one that knows your own
// workloads.
package main

import "github.com/zksim/zksim/cli"

func main() { cli.Main() }
