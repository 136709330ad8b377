// Package bench is the root of a module that measures zksim. It is a separate module so that the
// dependencies and the tests of the main one stay few. Each job is a command:
//
//	go run -C bench ./load      the server beside a floor and a real ZooKeeper
//	go run -C bench ./others    what the recipes of other libraries survive
//	go run -C bench ./report    docs/measurements.md, from these and other commands
//
// go doc on the package of a command tells how it measures.
package bench
