// Package realzk starts and stops a real ZooKeeper, a standalone server on the
// loopback interface, for tests and benchmarks that want the genuine answers.
//
//	server := realzk.Start(t, realzk.Options{}) // gone when the test ends
//	conn, _, err := zk.Connect([]string{server.Address()}, 10*time.Second)
//
// A program uses [Launch] and [Server.Stop] instead. A server answers half a
// second after it was started.
//
// # What it needs
//
// A Java runtime and ZooKeeper's jars, on Debian the packages default-jre-headless
// and libzookeeper-java. [Start] skips the test with one line if they are not
// there. Java is the one of JAVA_HOME or else of PATH. Two environment variables
// change where the server comes from:
//
//   - ZKSIM_ZOOKEEPER_CLASSPATH is the class path to use instead of Debian's, that
//     of another release, say. Directories with /* at the end are understood.
//   - ZKSIM_REAL_ZOOKEEPER=host:port names a server that runs already. It is used
//     as it is: nothing is started, options have no effect, Stop leaves it alone.
//     Start skips tests that want options, which may be there to have a server
//     that nobody has used.
//
// # What it leaves behind
//
// Nothing. The data lie in a temporary folder, in memory where the system has
// /dev/shm, and are deleted by Stop. Stop kills the process: what a shutdown
// would still write is deleted anyway. On Linux the server is also killed when
// the process that started it dies, however that happens; elsewhere a killed
// test leaves a server running.
//
// # Limits
//
// A free port is looked for and then given to the server; another process may
// take it in between. The start is then tried again, three times at most. Another
// ZooKeeper that has taken it is known by its data folder, unless
// zookeeper.4lw.commands.whitelist is set to something without conf.
package realzk
