package museum

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zksim/zksim/linearizability"
)

func prefixOrder() Exhibit {
	return Exhibit{
		ID: "B1", Title: "the session's id is compared before the sequence number",
		Report: "https://issues.apache.org/jira/browse/ZOOKEEPER-2931", See: []string{"S0-2"},
		Bug: "Nodes are called x-<session>-<sequence>, and compared as a pair. A client with a smaller " +
			"session id that arrives later sorts before the owner, and both own the lock.",
		Property: linearizability.Safety,
		Wrong: lockOf(func(l *naked) {
			l.naming = l.session
			l.order = func(a, b string) int { return cmp.Or(strings.Compare(prefixOf(a), prefixOf(b)), bySequence(a, b)) }
		}),
		Right: lockOf(nil),
	}
}

// session is a prefix that tells the session. There is none before the first reply.
func (l *naked) session() string {
	for i := 0; i < attempts && l.conn.SessionID() == 0; i++ {
		_, _, _ = l.conn.Exists(l.dir)
	}
	return fmt.Sprintf("x-%016x-%s", l.conn.SessionID(), marker)
}

func prefixOf(name string) string { return name[:strings.LastIndex(name, marker)] }
