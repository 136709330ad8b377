package museum

import (
	"path"

	"github.com/zksim/zksim/linearizability"
)

func secondFailure() Exhibit {
	return Exhibit{
		ID: "G1", Title: "the Go client's protected create fails twice",
		Report: "https://github.com/samuel/go-zookeeper/issues/229",
		Bug: "CreateProtectedEphemeralSequential looks for its GUID after a lost reply. If that fails, too, it returns an error, " +
			"and the GUID to nobody: the node lives, and its own client waits behind it.",
		Property: linearizability.Liveness,
		Wrong:    lockOf(joinByClient),
		Right:    lockOf(nil),
	}
}

// joinByClient makes the own node by the client's own function.
func joinByClient(l *naked) {
	l.join = func() error {
		if l.own != "" {
			return nil
		}
		made, err := l.conn.CreateProtectedEphemeralSequential(l.path(marker), nil, acl)
		if err == nil {
			l.own = path.Base(made)
		}
		return err
	}
}
