package object

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/value"
)

// IDSource is a generator under test. It returns each number once.
type IDSource interface {
	Next(ctx context.Context) (int64, error)
}

// IDClaims are the promises of a generator.
type IDClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the znode of the counter, in decimal digits; "" means /ids. It is the last number that
	// is taken, or the first that is not.
	Path string
	// Uncounted says that there is no counter at Path: otherwise a client takes numbers by adding
	// to the counter.
	Uncounted bool
	// Ordered says that a call gets a greater number than every call that returned before it began.
	// Without Ordered this holds for the calls of one client.
	Ordered bool
	// LeavesAtRest are patterns (path.Match) of znodes below Path that may stay.
	LeavesAtRest []string
}

// IDGenerator makes a workload of a generator of numbers. Each client calls open once and takes
// three numbers a round, now and then with a short context.
func IDGenerator(open func(Env) IDSource, given ...IDClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/ids")
	w := scenario.Workload{
		Name:  "id-generator",
		About: claims.About,
		Play: inRounds(open, claims.Path, 3,
			func(p *scenario.Player, h *scenario.Handle[IDSource]) (turn, end func(int)) {
				turn = func(turn int) { takeID(p, h.Now(), turn) }
				return turn, func(first int) {
					p.Insist(ops.Next, first, func(int) error {
						return nextID(p.Context(), p, h.Now())
					})
				}
			}),
		Shared: true,
	}
	ids := value.IDGenerator{Ordered: claims.Ordered}
	if claims.Uncounted {
		w.Properties = ids.Properties()
		w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
			return linearizability.Judge(e.History, e.Rest, ids), nil
		}
		return w
	}
	ids.Path, ids.AllowedAtRest = claims.Path, claims.LeavesAtRest
	return judgedAt(w, claims.Path, ops.Next, func(scenario.Evidence) linearizability.Claims {
		return ids
	})
}

// takeID takes one number, now and then with a short context.
func takeID(p *scenario.Player, ids IDSource, turn int) {
	ctx, cancel := p.Hasty(p.Context(), 0, scenario.At("next", turn), 4, time.Millisecond,
		20*time.Millisecond)
	defer cancel()
	_ = nextID(ctx, p, ids) // a failed call may have used up some numbers, which is allowed
}

func nextID(ctx context.Context, p *scenario.Player, ids IDSource) error {
	c := p.Begin(ops.Next, "")
	id, err := ids.Next(ctx)
	if err != nil {
		c.Unknown(linearizability.Result{}, err)
		p.Pause(retryPause)
		return err
	}
	c.OK(linearizability.Result{Output: strconv.FormatInt(id, 10)})
	return nil
}
