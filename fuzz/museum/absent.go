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

// Absent lists the published bugs of locks and elections that cannot be shown, or not
// yet, in the order of their ids.
func Absent() []Missing {
	return []Missing{
		{"B7", "https://github.com/python-zk/kazoo/pull/170",
			"kazoo forgets its watches when the connection breaks; the Go client sets them again, so a waiter that hears of no disconnect is woken all the same"},
		{"B20", "https://github.com/apache/curator/issues/711",
			"a persistent node that piles up, not a lock: it belongs beside the registry's exhibits"},
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
		{"G4", "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go",
			"a write to a connection in memory does not fail half-way, so no raw network error comes out of a request"},
		{"G5", "https://github.com/go-zookeeper/zk/blob/v1.0.4/conn.go",
			"a search on a follower that lags needs several servers"},
		{"G10", "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go",
			"the step from 2147483647 to -2147483648 is one of servers before 3.6 (ZOOKEEPER-3249); later ones, and this one, stay at the largest number"},
		{"G12", "https://github.com/go-zookeeper/zk/issues/83",
			"a waiter that hears of no disconnect waits on, which is no violation of any property"},
		{"S3-7", "https://github.com/apache/curator/blob/master/curator-recipes/src/main/java/org/apache/curator/framework/recipes/locks/LockInternals.java",
			"a wait that outlives its timeout is no violation of any property as long as it ends"},
	}
}
