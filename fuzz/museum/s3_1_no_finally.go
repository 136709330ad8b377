package museum

import (
	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func noFinally() Exhibit {
	return Exhibit{
		ID: "S3-1", Title: "work that fails keeps the lock",
		Report: "https://curator.apache.org/docs/getting-started", See: []string{"S0-22"},
		Bug: "The sample acquires, works and releases, in this order and without a finally. When the work fails its error leaves " +
			"at once, and the lock stays as long as the session, for whoever comes, the same client included.",
		Property: linearizability.Liveness,
		Wrong:    workUnderLock(false), // wrong: it is released only if all goes well
		Right:    workUnderLock(true),
	}
}

// workUnderLock is a workload of clients whose work is a request.
func workUnderLock(finally bool) scenario.Workload {
	w := openLock(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for range s.Rounds {
			l := newNaked(p.Conn(), lockDir)
			if !p.Persist(func(int) error { return playLock(p, l, "") }) {
				return
			}
			if work(p.Conn()) == nil || finally {
				playUnlock(p, l, "")
			}
		}
	}
	return w
}

func work(conn *zk.Conn) error {
	_, _, err := conn.Exists(lockDir)
	return err
}
