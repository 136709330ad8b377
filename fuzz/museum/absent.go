package museum

// Missing is a published bug that has no exhibit.
type Missing struct {
	// ID names it as in Exhibit.
	ID string
	// Report is where it was published, a URL.
	Report string
	// Why it cannot be shown here.
	Why string
}

// Absent lists the published bugs that cannot be shown, or not yet, in the order of
// their ids.
func Absent() []Missing {
	return []Missing{
		{"B7", "https://github.com/python-zk/kazoo/pull/170",
			"kazoo forgets its watches when the connection breaks; the Go client sets them again, so a waiter that hears of no disconnect is woken all the same"},
		{"B20", "https://github.com/apache/curator/issues/711",
			"nodes of one member that pile up under names that differ; in the groups and registries here a member is known by its node's name"},
		{"B22", "https://github.com/apache/curator/issues/727",
			"a holder that is not told of its session's end while it is cut off has the zombie window that every lock has; it is measured, not judged"},
		{"B27", "https://github.com/apache/curator/issues/1112",
			"permits that a server keeps over a restart need sessions that a restart does not keep; a restart of ours keeps both"},
		{"B33", "https://github.com/apache/curator/issues/864",
			"it needs a client with one thread for all events, which a slow handler blocks; the Go client hands events to channels"},
		{"B37", "https://github.com/hashicorp/consul/issues/18271",
			"how late a partitioned holder learns of its loss is measured, as a zombie window, and no recipe is judged by it"},
		{"B41", "https://github.com/apache/curator/issues/1169",
			"callbacks of two attempts that interleave need a client with callbacks"},
		{"B42", "https://github.com/apache/curator/issues/1160",
			"two latches that reset each other for ever get out of step here after some rounds, as latencies vary"},
		{"B44", "https://github.com/Netflix/curator/issues/257",
			"start races a listener of reconnects; a Go recipe is given a connection, and is not told of its reconnects"},
		{"B48", "https://github.com/apache/curator/commit/3478aca7",
			"an error of a query is no violation of any property"},
		{"B50", "https://issues.apache.org/jira/browse/ZOOKEEPER-1219",
			"an event that a listener should not have heard; which events come in what order is not judged"},
		{"B64", "https://github.com/apache/curator/issues/577",
			"a consumer that puts back what it could not work on under another name: the queues that are judged give back by unlocking, in place"},
		{"B66", "https://github.com/apache/curator/issues/856",
			"a consumer that is not told of the state of its connection violates no property"},
		{"B67", "https://github.com/Netflix/curator/issues/173",
			"a bound on a queue's length is not judged"},
		{"B72", "https://github.com/apache/curator/pull/478",
			"the version of a node begins with 0 and cannot be set, and a run is too short to let it overflow; of nodes that begin anew see B68"},
		{"B73", "https://issues.apache.org/jira/browse/CURATOR-729",
			"what a closed cache still reads and watches ends with its connection; that it goes on until then is not judged"},
		{"B75", "https://github.com/python-zk/kazoo/pull/283",
			"there is no workload of a partitioner"},
		{"B81", "https://github.com/ClickHouse/ClickHouse/issues/116690",
			"it is a bug of a server, which gives a new session without saying so; this one is right, and has no mode in which it is not"},
		{"B83", "https://cwiki.apache.org/confluence/display/CURATOR/TN14",
			"a client that is cut off learns of its session's end on contact: the zombie window, which is measured and not judged"},
		{"B84", "https://issues.apache.org/jira/browse/ZOOKEEPER-3145",
			"it is a bug of a server, which misses to fire a watch; this one is right, and has no mode in which it is not"},
		{"G4", "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go",
			"a write to a connection in memory does not fail half-way, so no raw network error comes out of a request"},
		{"G5", "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go",
			"a search on a follower that lags needs several servers"},
		{"G10", "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go",
			"the step from 2147483647 to -2147483648 is one of servers before 3.6 (ZOOKEEPER-3249); later ones, and this one, stay at the largest number"},
		{"G12", "https://github.com/go-zookeeper/zk/issues/83",
			"a waiter that hears of no disconnect waits on, which is no violation of any property"},
		{"G14", "https://github.com/go-zookeeper/zk/pull/163",
			"a write to a connection in memory does not fail half-way, which the wedge at a re-authentication needs"},
		{"G15", "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go",
			"a connect response cut after its length hangs the client for good; faults strike requests and events, not the handshake"},
		{"S0-17", "https://github.com/apache/zookeeper/tree/master/zookeeper-recipes/zookeeper-recipes-queue",
			"an error of an operation, because two clients make the directory at once, is no violation of any property"},
		{"S0-20", "https://github.com/apache/zookeeper/tree/master/zookeeper-recipes/zookeeper-recipes-queue",
			"it needs numbers of both signs in the wrong order, which come from the step of G10 only"},
		{"S3-7", "https://github.com/apache/curator/blob/master/curator-recipes/src/main/java/org/apache/curator/framework/recipes/locks/LockInternals.java",
			"a wait that outlives its timeout is no violation of any property as long as it ends"},
		{"S4-13", "https://curator.apache.org/docs/recipes-path-cache",
			"two events that race in threads of one process; a view here is asked, and not told"},
		{"S4-15", "https://curator.apache.org/docs/recipes-path-cache",
			"a consumer that deletes a service's node makes a provider fail, who tries again: no property is violated"},
		{"S4-21", "https://curator.apache.org/docs/recipes-path-cache",
			"one variable for the watches of all; the Go client gives each watch a channel of its own"},
		{"S4-22", "https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks",
			"members by nodes that outlive them, like S4-26, whose second node is for ever: who is in a line is known by ephemerals here"},
		{"S4-34", "https://zookeeper.apache.org/doc/current/zookeeperTutorial.html#sc_barriers",
			"a member that misses a count while it is disconnected, like S4-36, whose node goes with its session: who was told of that is excused"},
		{"S4-40", "https://zookeeper.apache.org/doc/current/recipes.html#Shared+Locks",
			"no workload locks for writing what it has locked for reading"},
	}
}
