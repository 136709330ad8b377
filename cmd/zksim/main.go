// Command zksim hunts for bugs in code that coordinates through ZooKeeper.
//
//	zksim demo                 find, shrink and explain a real deadlock
//	zksim list                 workloads, implementations, strategies, fault kinds
//	zksim sweep WORKLOAD       every single fault at every protocol step
//	zksim prove WORKLOAD       every run of a small script, once for each class of equal ones
//	zksim fuzz [WORKLOAD]      a hunt by several strategies, on all cores
//	zksim gallery [NAME...]     wrong recipes, found again
//	zksim merge FILE...       unite the reports of several processes
//	zksim run FILE...          scenario files, as tests
//	zksim replay FILE          one scenario file, step by step
//	zksim diff A B             where two traces part
//	zksim check KIND FILE      a history of a real system, judged
//	zksim conform              the same requests to it and to a running ZooKeeper
//	zksim go SUBCOMMAND        go test, run, build or vet, for code that dials by itself
//	zksim serve                an in-memory ZooKeeper on TCP, for clients in any language
//	zksim dump HOST:PORT,...   the tree of a running ZooKeeper
//	zksim completion SHELL     the completion script of bash, zsh or fish
//
// zksim COMMAND --help lists the flags. The manual is the documentation of package
// [github.com/zksim/zksim/cli], go doc github.com/zksim/zksim/cli, which also makes a command like
// this one that knows your own workloads.
package main

import "github.com/zksim/zksim/cli"

func main() { cli.Main() }
