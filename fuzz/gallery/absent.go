package gallery

// Missing is a published bug without an exhibit.
type Missing struct {
	// ID names it as in Exhibit.
	ID string
	// Report is the URL of its publication.
	Report string
	// Why it cannot be shown here.
	Why string
}

// Absent lists the published bugs that cannot be shown, or not yet, in the order of their ids.
func Absent() []Missing {
	return []Missing{
		{"B7", "https://github.com/python-zk/kazoo/pull/170",
			"kazoo forgets its watches when the connection breaks; the Go client sets them " +
				"again, so a waiter that hears of no disconnect is woken all the same"},
		{"B16", "https://github.com/apache/curator/issues/1018",
			"the node of the session that has ended is found by the next one, and is taken for " +
				"its own; no new session of 3.8 sees such a node (see G3)"},
		{"B20", "https://github.com/apache/curator/issues/711",
			"member names get one more prefix at each reconnect; that needs a client with two " +
				"parts, one to make such names and one to find them, and the Go client has one " +
				"(see G1)"},
		{"B27", "https://github.com/apache/curator/issues/1112",
			"a restart keeps permits and loses their sessions; a restart of fakezk keeps both"},
		{"B33", "https://github.com/apache/curator/issues/864",
			"it needs a client with one thread for all events, which a slow handler blocks; the " +
				"Go client hands events to channels"},
		{"B37", "https://github.com/hashicorp/consul/issues/18271",
			"a partitioned holder learns of its loss late, depending on the timeouts of its " +
				"client; that is measured, as a zombie window, and every recipe has one"},
		{"B41", "https://github.com/apache/curator/issues/1169",
			"callbacks of two attempts that interleave need a client with callbacks"},
		{"B42", "https://github.com/apache/curator/issues/1160",
			"two latches that reset each other for ever get out of step here after some rounds, " +
				"as latencies vary"},
		{"B44", "https://github.com/Netflix/curator/issues/257",
			"start races a listener of reconnects; a Go recipe is given a connection, and is not " +
				"told of its reconnects"},
		{"B50", "https://issues.apache.org/jira/browse/ZOOKEEPER-1219",
			"a listener hears an event after its reason has gone; the next event puts it right, " +
				"and no client has led meanwhile"},
		{"B64", "https://github.com/apache/curator/issues/577",
			"a consumer that puts an element back loses the id of its offer; it needs a queue " +
				"with ids that gives back by offering again, and that of package recipes gives " +
				"back in place"},
		{"B66", "https://github.com/apache/curator/issues/856",
			"a consumer that does not pass on the state of its connection: the Go client tells " +
				"that to the code that has opened the connection"},
		{"B72", "https://github.com/apache/curator/pull/478",
			"the version of a node begins with 0 and cannot be set, and a run is too short to " +
				"let it overflow; for nodes that begin anew see B68"},
		{"B73", "https://issues.apache.org/jira/browse/CURATOR-729",
			"the watches of a closed cache end with its connection; the Go client cannot take a " +
				"watch back, so every cache has that in common"},
		{"B74b", "https://github.com/python-zk/kazoo/issues/151",
			"kazoo forgets its watches when the connection breaks, as in B7; the Go client sets " +
				"them again"},
		{"B75", "https://github.com/python-zk/kazoo/pull/283",
			"a partitioner is made of several recipes (a group, and a lock for each partition), " +
				"with the bug as one among many; there is none to be right beside it"},
		{"B81", "https://github.com/ClickHouse/ClickHouse/issues/116690",
			"it is a bug of a server, which gives a new session without saying so; fakezk is " +
				"right, and has no mode in which it is not"},
		{"B83", "https://cwiki.apache.org/confluence/display/CURATOR/TN14",
			"a client that is cut off learns of its session's end on contact; until then lasts " +
				"the zombie window, which is measured, and which every lock has"},
		{"B84", "https://issues.apache.org/jira/browse/ZOOKEEPER-3145",
			"it is a bug of a server, which misses to fire a watch; fakezk is right, and has no " +
				"mode in which it is not"},
		{"G3", "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go",
			"the search for a protected node in a new session finds that of the session before, as " +
				"in B16; no new session of 3.8 sees it"},
		{"G4", "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go",
			"a write to a connection in memory does not fail half-way, so no raw network error " +
				"comes out of a request"},
		{"G5", "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go#L1126",
			"the search for a protected node without a sync, by a client that has come to a " +
				"follower which is behind: the servers of 3.8 bring a follower up to date " +
				"before they take a client back"},
		{"G10", "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go",
			"the step from 2147483647 to -2147483648 is one of servers before 3.6 " +
				"(ZOOKEEPER-3249); later ones, and fakezk, stay at the largest number"},
		{"G12", "https://github.com/go-zookeeper/zk/issues/83",
			"a waiter that hears of no disconnect waits on, and is woken when the connection is " +
				"back: that breaks no promise of a lock"},
		{"G14", "https://github.com/go-zookeeper/zk/pull/163",
			"a write to a connection in memory does not fail half-way, which the wedge at a " +
				"re-authentication needs"},
		{"G15", "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go",
			"a connect response cut after its length hangs the client for good; faults strike " +
				"requests and events, not the handshake"},
		{"S0-21", "https://github.com/apache/zookeeper/tree/master/zookeeper-recipes/zookeeper-recipes-queue",
			"a method without a caller returns nothing in two ways"},
		{"S1-4", "https://zookeeper.apache.org/doc/current/recipes.html#Shared+Locks",
			"the drawing leaves out how a reader knows the writers; a program has to add that"},
		{"S1-10", "https://zookeeper.apache.org/doc/current/recipes.html#sc_doubleBarriers",
			"a dead member counts as one that has left: so the guide defines a double barrier, " +
				"and so the right ones do"},
		{"S4-4", "https://curator.apache.org/docs/recipes-path-cache",
			"text in the character set of the machine; Go has one, and bytes"},
		{"S4-10", "https://curator.apache.org/docs/recipes-path-cache",
			"a program that exits when its client cannot be made: it is no step of a recipe"},
		{"S4-28", "https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks",
			"looking once a second instead of watching is slow and costs requests, and is right"},
		{"S4-32", "https://zookeeper.apache.org/doc/current/zookeeperTutorial.html#sc_barriers",
			"a variable of two threads without synchronization: a simulated world runs the code " +
				"as it is compiled, and go test -race finds it"},
		{"S4-33", "https://zookeeper.apache.org/doc/current/zookeeperTutorial.html#sc_barriers",
			"a listener is cleared while its cache goes on: the watches that are left end with " +
				"their connection, as in B73"},
		{"S4-41", "https://zookeeper.apache.org/doc/current/recipes.html#Shared+Locks",
			"a method that lacks the argument that it needs cannot be written"},
	}
}
