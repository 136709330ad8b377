package object

import (
	"cmp"
	"context"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/lock"
	"github.com/zksim/zksim/linearizability/ops"
)

// Elector is a candidate in a leader election under test. These methods are optional and tested,
// too: Lost() <-chan struct{} is the signal to a leader that it does not lead any more; Token()
// int64 is the epoch of the present term, the czxid of the leader's znode; Leader(ctx) (name,
// epoch, error) returns the present leader, "" if there is none.
type Elector interface {
	// Lead returns nil when the candidate leads. After an error the candidate may still be in the
	// election.
	Lead(ctx context.Context) error
	// Resign gives up leadership.
	Resign(ctx context.Context) error
	// Close takes the candidate out of the election; a leader resigns. It is called instead of the
	// last Resign.
	Close(ctx context.Context) error
}

// Election makes a workload of a leader election. Each client calls open once and leads round after
// round. After an error it tries again, and after a loss it leads once more. If the object has
// Leader, in one run of three the last client only asks. The claims are those of a lock; Path ""
// means /election.
func Election(open func(Env) Elector, given ...LockClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/election")
	return claims.judged(scenario.Workload{
		Name:  "election",
		About: claims.About,
		Play: func(p *scenario.Player, s scenario.Script) {
			ep := electionPlayer{client: p, elector: opener(open, claims.Path)(p)}
			if ep.ask() && s.Clients > 1 && p.Index() == s.Clients-1 && p.Agree("asker", 3) == 0 {
				ep.watch(s.Rounds)
				return
			}
			for round := range p.Rounds(s.Rounds) {
				p.Rest(round)
				ep.turn(round, round == s.Rounds-1)
			}
			ep.ask()
		},
		Length: claims.length,
	}, ops.Lead, func(l lock.Claims) linearizability.Claims {
		return lock.Election(l)
	})
}

type electionPlayer struct {
	client  *scenario.Player
	elector Elector
}

// turn leads and resigns; the last turn closes the candidate.
func (p electionPlayer) turn(round int, last bool) {
	for term := range 2 {
		lost, led := p.lead(scenario.At("lead", round, term))
		if !led {
			return
		}
		p.client.Hold(scenario.At("hold", round, term), lost)
		useTokenLate(p.client, 2*round+term, "", func() int64 { return p.epochAfter(nil) })
		if !isClosed(lost) {
			break
		}
	}
	resign := p.elector.Resign
	if last {
		resign = p.elector.Close
	}
	p.client.Release(func() error { return p.client.Call(ops.Resign, "", resign) })
}

// lead waits until the candidate leads or the World ends, and returns the signal of loss.
func (p electionPlayer) lead(label string) (lost <-chan struct{}, led bool) {
	led = p.client.Persist(func(attempt int) error {
		return p.client.Do(ops.Lead, "", func(ctx context.Context) (linearizability.Result, error) {
			ctx, cancel := p.client.Hasty(ctx, attempt, label, 6, 10*time.Millisecond,
				100*time.Millisecond)
			defer cancel()
			err := p.elector.Lead(ctx)
			return linearizability.Result{Token: p.epochAfter(err)}, err
		})
	})
	if l, ok := p.elector.(lossSignaler); ok && led {
		lost = l.Lost()
	}
	return lost, led
}

// epochAfter is the epoch of a term that has begun, 0 after an error.
func (p electionPlayer) epochAfter(err error) int64 {
	if t, ok := p.elector.(interface{ Token() int64 }); ok && err == nil {
		return t.Token()
	}
	return 0
}

// ask asks for the leader, if the elector has Leader. A candidate does not ask: its requests would
// race with those that a candidacy sends in the background.
func (p electionPlayer) ask() (asked bool) {
	teller, ok := p.elector.(interface {
		Leader(ctx context.Context) (name string, epoch int64, err error)
	})
	if !ok || p.client.Context().Err() != nil {
		return false
	}
	p.client.Optional("Leader", true)
	call := p.client.Begin(ops.Leader, "")
	name, epoch, err := teller.Leader(p.client.Context())
	if err != nil {
		call.Failed(err)
		return true
	}
	call.OK(linearizability.Result{Output: name, Token: epoch, Empty: name == ""})
	return true
}

// watch asks for the leader again and again, while the others lead one after the other.
func (p electionPlayer) watch(rounds int) {
	for n := range 10 * rounds {
		pause := 1 + p.client.Choose(scenario.At("watch", n), 20_000)
		p.client.Pause(time.Duration(pause) * time.Microsecond)
		p.ask()
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
