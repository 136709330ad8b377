package museum

import "github.com/zksim/zksim/linearizability"

func consumedWatch() Exhibit {
	return Exhibit{
		ID: "S4-24", Title: "a watch used up by another change",
		Report: turnTutorial,
		Bug: "Whose turn it is notes that in its node. The watch of the next one fires for that, is done, and is not set " +
			"again: when the node is deleted nobody hears of it.",
		Property: linearizability.Liveness,
		Wrong: turnOf(func(l *naked) {
			l.confirm = l.confirmAndNote
			l.await = l.awaitDeparture // wrong: the watch fires once, for whatever
		}),
		Right: turnOf(func(l *naked) { l.confirm = l.confirmAndNote }),
	}
}

// confirmAndNote confirms that the own node is this session's and notes in it that it
// is its turn.
func (l *naked) confirmAndNote() error {
	if err := l.confirmOwner(); err != nil {
		return err
	}
	_, err := l.conn.Set(l.path(l.own), []byte("its turn"), -1)
	return err
}
