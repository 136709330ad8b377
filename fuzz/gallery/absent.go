package gallery

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
			"members whose names are prefixed once more at each reconnect take the code that makes and finds such names again in the client, which the Go client has in one piece (see G1)"},
		{"B27", "https://github.com/apache/curator/issues/1112",
			"permits that a server keeps over a restart need sessions that a restart does not keep; a restart of ours keeps both"},
		{"B33", "https://github.com/apache/curator/issues/864",
			"it needs a client with one thread for all events, which a slow handler blocks; the Go client hands events to channels"},
		{"B37", "https://github.com/hashicorp/consul/issues/18271",
			"how late a partitioned holder learns of its loss depends on the timeouts that the client was given; it is measured, as a zombie window, and every recipe has one"},
		{"B41", "https://github.com/apache/curator/issues/1169",
			"callbacks of two attempts that interleave need a client with callbacks"},
		{"B42", "https://github.com/apache/curator/issues/1160",
			"two latches that reset each other for ever get out of step here after some rounds, as latencies vary"},
		{"B44", "https://github.com/Netflix/curator/issues/257",
			"start races a listener of reconnects; a Go recipe is given a connection, and is not told of its reconnects"},
		{"B50", "https://issues.apache.org/jira/browse/ZOOKEEPER-1219",
			"an event that a listener hears though its reason has gone: the next one puts it right, and nobody has led meanwhile"},
		{"B64", "https://github.com/apache/curator/issues/577",
			"a consumer that puts back what it could not work on loses the id that it was offered with: it takes a queue with ids that gives back by offering again, and the one of package recipes gives back in place"},
		{"B66", "https://github.com/apache/curator/issues/856",
			"a consumer that does not pass on the state of its connection: the Go client tells that to whoever has opened the connection"},
		{"B72", "https://github.com/apache/curator/pull/478",
			"the version of a node begins with 0 and cannot be set, and a run is too short to let it overflow; of nodes that begin anew see B68"},
		{"B73", "https://issues.apache.org/jira/browse/CURATOR-729",
			"what a closed cache still watches ends with its connection; the Go client cannot take a watch back, so every cache has that in common"},
		{"B74b", "https://github.com/python-zk/kazoo/issues/151",
			"kazoo forgets its watches when the connection breaks, as in B7; the Go client sets them again"},
		{"B75", "https://github.com/python-zk/kazoo/pull/283",
			"a partitioner is a recipe of several (a group, and a lock for each partition), of which the bug is one among many; there is none to be right beside it"},
		{"B81", "https://github.com/ClickHouse/ClickHouse/issues/116690",
			"it is a bug of a server, which gives a new session without saying so; this one is right, and has no mode in which it is not"},
		{"B83", "https://cwiki.apache.org/confluence/display/CURATOR/TN14",
			"a client that is cut off learns of its session's end on contact; what it does until then is the zombie window, which is measured, and which every lock has"},
		{"B84", "https://issues.apache.org/jira/browse/ZOOKEEPER-3145",
			"it is a bug of a server, which misses to fire a watch; this one is right, and has no mode in which it is not"},
		{"G4", "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go",
			"a write to a connection in memory does not fail half-way, so no raw network error comes out of a request"},
		{"G5", "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go",
			"a search on a follower that lags needs several servers"},
		{"G10", "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go",
			"the step from 2147483647 to -2147483648 is one of servers before 3.6 (ZOOKEEPER-3249); later ones, and this one, stay at the largest number"},
		{"G12", "https://github.com/go-zookeeper/zk/issues/83",
			"a waiter that hears of no disconnect waits on, and is woken when the connection is back: nothing that a lock promises is broken by that"},
		{"G14", "https://github.com/go-zookeeper/zk/pull/163",
			"a write to a connection in memory does not fail half-way, which the wedge at a re-authentication needs"},
		{"G15", "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go",
			"a connect response cut after its length hangs the client for good; faults strike requests and events, not the handshake"},
		{"S0-20", "https://github.com/apache/zookeeper/tree/master/zookeeper-recipes/zookeeper-recipes-queue",
			"it needs numbers of both signs in the wrong order, which come from the step of G10 only"},
		{"S0-21", "https://github.com/apache/zookeeper/tree/master/zookeeper-recipes/zookeeper-recipes-queue",
			"a method that nobody calls returns nothing in two ways"},
		{"S1-4", "https://zookeeper.apache.org/doc/current/recipes.html#Shared+Locks",
			"a drawing that leaves out how a reader knows the writers: whoever builds it has to add that"},
		{"S1-10", "https://zookeeper.apache.org/doc/current/recipes.html#sc_doubleBarriers",
			"that who has died counts as having left is how the guide defines a double barrier, and what the right ones do"},
		{"S3-7", "https://github.com/apache/curator/blob/master/curator-recipes/src/main/java/org/apache/curator/framework/recipes/locks/LockInternals.java",
			"a wait whose timeout begins anew at each wake-up: it takes waiters that are woken again and again for nothing, as those of S2-2, and what is lost then is time"},
		{"S4-4", "https://curator.apache.org/docs/recipes-path-cache",
			"text in the character set of the machine; Go has one, and bytes"},
		{"S4-10", "https://curator.apache.org/docs/recipes-path-cache",
			"a program that exits when its client cannot be made: it is no step of a recipe"},
		{"S4-13", "https://curator.apache.org/docs/recipes-path-cache",
			"two events that race in two threads of one process, one of which removes what the other writes to; a view here is asked, and not told"},
		{"S4-21", "https://curator.apache.org/docs/recipes-path-cache",
			"one variable for the watches of all; the Go client gives each watch a channel of its own"},
		{"S4-28", "https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks",
			"looking once a second instead of watching is slow and costs requests, and is right"},
		{"S4-32", "https://zookeeper.apache.org/doc/current/zookeeperTutorial.html#sc_barriers",
			"a variable of two threads without synchronization: a simulated world runs the code as it is compiled, and go test -race finds it"},
		{"S4-33", "https://zookeeper.apache.org/doc/current/zookeeperTutorial.html#sc_barriers",
			"a listener that is cleared while its cache goes on: what that still watches ends with its connection, as in B73"},
		{"S4-41", "https://zookeeper.apache.org/doc/current/recipes.html#Shared+Locks",
			"a method that lacks the argument that it needs cannot be written"},
	}
}
