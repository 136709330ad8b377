package museum

import (
	"context"
	"errors"
)

// failing is a naked lock whose steps may find errFailed, at which it gives up as it
// is: its node stays. One such node is enough to show it, so the next attempts use
// the same second one. What else goes wrong it survives, like naked.
type failing struct {
	*naked
	failed bool
}

// errFailed is what a wrong step returns for something that it does not expect.
var errFailed = errors.New("this was not expected")

func (l *failing) Lock(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := l.join(); err != nil {
			return err
		}
		ahead, err := l.look()
		switch {
		case errors.Is(err, errFailed):
			if !l.failed {
				l.own, l.failed = "", true // wrong: nobody deletes it
			}
			return err
		case errors.Is(err, errGone):
			l.own = ""
		case err != nil: // the next request waits for the connection
		case ahead == "":
			return nil
		default:
			l.await(ctx, ahead)
		}
	}
	return l.giveUp(ctx)
}
