package museum

import "github.com/zksim/zksim/linearizability"

func fewRetries() Exhibit {
	return Exhibit{
		ID: "B12", Title: "retries used up after a lost reply",
		Report: "https://github.com/apache/curator/issues/566",
		Bug: "The reply to the create is lost, and so is each retry that the policy grants. The caller is told that nothing " +
			"was acquired, but the node is there, and all later ones wait behind it, those of the same client too.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.join = func() (err error) {
				if l.own != "" {
					return nil
				}
				l.prefix = l.naming()
				if err = l.create(); err == nil {
					return nil
				}
				if _, _, err = l.conn.Children(l.dir); err != nil {
					return err // wrong: the node may be there
				}
				return l.joinAgain()
			}
		}),
		Right: lockOf(nil),
	}
}

// joinAgain goes on where a try to join has failed.
func (l *naked) joinAgain() error {
	if found, err := l.find(); found || err != nil {
		return err
	}
	return l.joinOnce()
}
