// Package realzk starts and stops a real ZooKeeper, a standalone server or an ensemble on the
// loopback interface, for tests and measurements that compare with it.
//
//	server := realzk.Start(t, realzk.Options{}) // gone when the test ends
//	conn, _, err := zk.Connect([]string{server.Address()}, 10*time.Second)
//
// [StartEnsemble] starts several servers. A program uses [Launch] and [Server.Stop] instead. A
// server answers half a second after it was started.
//
// # Requirements
//
// A Java runtime and ZooKeeper's jars, on Debian the packages default-jre-headless and
// libzookeeper-java. [Start] skips the test with one line if they are missing. Java is the one of
// JAVA_HOME or else of PATH. Two environment variables name another server:
//
//   - ZKSIM_ZOOKEEPER_CLASSPATH is a class path to use instead of Debian's, for
//     another release. Directories with /* at the end are understood.
//   - ZKSIM_REAL_ZOOKEEPER=host:port names a server that runs already. Nothing is
//     started, options have no effect, Stop leaves the server alone. Start skips
//     tests that ask for options, since they may need a fresh server.
//
// # Leftovers
//
// Nothing. The data are in a temporary folder, in memory where the system has
// /dev/shm, and Stop deletes them. Stop kills the process: a shutdown would only
// write data that are deleted next. On Linux the server also dies with the process
// that started it; elsewhere a killed test leaves a server running.
//
// # Limits
//
// Between the choice of a free port and the start of the server another process may take the port.
// Then the start is tried again, three times in all. If another ZooKeeper has the port, its data
// folder shows it, unless zookeeper.4lw.commands.whitelist is set to a list without conf.
package realzk
