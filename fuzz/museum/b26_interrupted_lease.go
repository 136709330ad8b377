package museum

import (
	"context"

	"github.com/zksim/zksim/linearizability"
)

func interruptedLease() Exhibit {
	return Exhibit{
		ID: "B26", Title: "interrupted while it waits for a lease",
		Report: "https://github.com/apache/curator/issues/982",
		Bug: "The thread is interrupted in its wait. The exception leaves by a way on which nobody deletes the node, which " +
			"becomes a lease that nobody holds when its turn comes.",
		Property: linearizability.Liveness,
		Wrong: semaphoreOf(func(l *naked) {
			l.giveUp = func(ctx context.Context) error { return ctx.Err() } // wrong: the node stays
		}),
		Right: semaphoreOf(nil),
	}
}
