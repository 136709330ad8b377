package object

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/twophase"
)

// TwoPhaser is the side of one client in one transaction of a two-phase commit under test. A method
// that finds no transaction returns an error that wraps [ErrNoTransaction]. The methods of
// [TwoPhaseJoiner] and [TwoPhaseFinisher] are optional and tested, too.
type TwoPhaser interface {
	// Begin begins the transaction. It is called once for each, and again only after an error that
	// promises that nothing was done; see TwoPhaseClaims.Definite. If the transaction exists, the
	// error wraps [ErrFinal].
	Begin(ctx context.Context, sites []string, deadline time.Time) error
	// Vote votes for a site. Later calls repeat the same vote.
	Vote(ctx context.Context, site string, yes bool) error
	// Await waits for the decision.
	Await(ctx context.Context) (commit bool, err error)
	// Forget removes the transaction, if all sites have finished. Otherwise the error wraps
	// [ErrFinal].
	Forget(ctx context.Context) error
}

// TwoPhaseJoiner is a TwoPhaser with sites that can show their presence.
type TwoPhaseJoiner interface {
	Join(ctx context.Context, site string) error
	// Close ends the presence and everything else.
	Close(ctx context.Context) error
}

// TwoPhaseFinisher is a TwoPhaser with a call for a site that has carried out the decision.
type TwoPhaseFinisher interface {
	Done(ctx context.Context, site string) error
}

// TwoPhaseClaims are the promises of a two-phase commit.
type TwoPhaseClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the directory of the transactions; "" means /transactions. Each transaction is a
	// znode in it, from Begin until Forget.
	Path string
	// Read interprets the znodes below a transaction. Nil reads those of recipes.TwoPhaseCommit.
	Read twophase.TransactionReader
	// Definite says that an error that is not ambiguous (see [ErrAmbiguous]) promises that nothing
	// was done and nothing will be.
	Definite bool
	// LeavesAtRest are patterns (path.Match) of znodes that may stay behind.
	LeavesAtRest []string
	StaleReads   bool // of Await and Forget; see Claims in the package comment
}

// TwoPhase makes a workload of a two-phase commit. Each client is a site, and one is the
// coordinator, another one in each round. A site votes yes or no, or not at all. Some sites join
// and leave again before they vote, and some come too late. The coordinator may die as soon as it
// has begun. Each client calls open for each transaction, with the path of the transaction, and
// again when it comes back.
func TwoPhase(open func(Env) TwoPhaser, given ...TwoPhaseClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/transactions")
	return judgedAt(scenario.Workload{
		Name:  "two-phase-commit",
		About: claims.About,
		Play: func(p *scenario.Player, s scenario.Script) {
			tp := &twoPhasePlayer{client: p, claims: claims, open: open, sites: s.ClientNames()}
			died := make([]bool, s.Rounds)
			for round := range p.Rounds(s.Rounds) {
				p.Rest(round)
				died[round] = p.Interrupted() || tp.turn(round)
			}
			for round := range p.Rounds(s.Rounds) {
				if !died[round] {
					tp.finish(round)
				}
			}
		},
		Length: func(s scenario.Script) time.Duration {
			return time.Duration(s.Rounds) * (hearsay + 2*scenario.LongHold + time.Second)
		},
	}, claims.Path, ops.Begin, claims.of)
}

// of are the claims of a run. A transaction may stay if its coordinator has died.
func (c TwoPhaseClaims) of(e scenario.Evidence) linearizability.Claims {
	return twophase.Claims{Path: c.Path, Read: c.Read, StaleReads: c.StaleReads,
		AllowedAtRest: leftBy(e, c.LeavesAtRest, c.Path+"/*", c.Path+"/*/*")}
}

// hearsay is how long a site waits for a transaction to begin. A transaction may be over before a
// site sees it.
const hearsay = 30 * time.Second

type twoPhasePlayer struct {
	client *scenario.Player
	claims TwoPhaseClaims
	open   func(Env) TwoPhaser
	sites  []string
}

// participant is one client in one transaction.
type participant struct {
	TwoPhaser
	name, path string
	over       bool // the transaction does not exist, or not any more
	decided    bool
}

func (p *twoPhasePlayer) participant(round int) *participant {
	name := fmt.Sprintf("t%d", round)
	path := p.claims.Path + "/" + name
	return &participant{TwoPhaser: p.open(p.env(path)), name: name, path: path}
}

// env is the Env of a transaction. The names of sites are those of clients.
func (p *twoPhasePlayer) env(path string) Env {
	return Env{
		Context: p.client.Life(), Conn: p.client.Conn(), Events: p.client.Events(),
		Name: p.client.Owner(), Path: path,
	}
}

// turn plays one transaction. It reports whether the client has died: a dead client does nothing
// more in this transaction.
func (p *twoPhasePlayer) turn(round int) (died bool) {
	d := p.participant(round)
	if p.client.Index() == round%len(p.sites) {
		p.begin(d, round)
		if p.client.Choose(scenario.At("die", round), 6) == 0 && p.isSeenByOther(d) {
			return true
		}
	}
	if !p.awaitBegin(d) {
		return false
	}
	p.join(d, round)
	if p.client.Choose(scenario.At("vote", round), 10) > 0 && !d.over {
		p.client.Hold(scenario.At("before vote", round), nil)
		p.vote(d, round)
	}
	p.await(d, scenario.At("await", round))
	p.done(d, scenario.At("done", round))
	if p.client.Choose(scenario.At("forget", round), 3) == 0 {
		p.forget(d)
	}
	return false
}

// finish awaits the decision once more, and ends the transaction.
func (p *twoPhasePlayer) finish(round int) {
	d := p.participant(round)
	p.await(d, scenario.At("finish await", round))
	p.done(d, scenario.At("finish done", round))
	p.forget(d)
}

// do is one call on a transaction. The transaction is over if the call finds none. do returns an
// error if the call may be repeated.
func (p *twoPhasePlayer) do(
	d *participant, kind, operands string,
	work func(ctx context.Context) (linearizability.Result, error),
) error {
	call := p.client.Begin(kind, operands)
	r, err := work(p.client.Context())
	d.over = errors.Is(err, ErrNoTransaction)
	switch {
	case d.over && kind == ops.Await:
		call.OK(linearizability.Result{Empty: true})
	case err == nil:
		call.OK(r)
	case p.undone(err):
		call.Failed(err)
	default:
		call.Unknown(r, err)
	}
	if d.over || errors.Is(err, ErrFinal) {
		return nil
	}
	return err
}

// undone reports whether an error promises that nothing was done.
func (p *twoPhasePlayer) undone(err error) bool {
	return p.claims.Definite && !isAmbiguous(err)
}

// retry calls do until it succeeds. The first attempt has a short context in some rounds.
func (p *twoPhasePlayer) retry(
	d *participant, kind, operands, label string, work func(ctx context.Context) error,
) bool {
	return p.client.Persist(func(attempt int) error {
		return p.do(d, kind, operands, func(ctx context.Context) (linearizability.Result, error) {
			ctx, cancel := p.client.Hasty(ctx, attempt, label, 8, time.Millisecond,
				30*time.Millisecond)
			defer cancel()
			return linearizability.Result{}, work(ctx)
		})
	})
}

// begin begins a transaction with a deadline in 0.5 to 3.5 s. After an ambiguous error it does not
// try again: the other sites may have ended the transaction.
func (p *twoPhasePlayer) begin(d *participant, round int) {
	drawn := p.client.Choose(scenario.At("deadline", round), 3000)
	patience := 500*time.Millisecond + time.Duration(drawn)*time.Millisecond
	deadline := p.client.Clock(patience)
	input := twophase.BeginInput(d.name, p.sites, p.client.VirtualTime(deadline))
	p.client.Persist(func(attempt int) error {
		err := p.do(d, ops.Begin, input, func(ctx context.Context) (linearizability.Result, error) {
			ctx, cancel := p.client.Hasty(ctx, attempt, scenario.At("begin", round), 8,
				time.Millisecond, 30*time.Millisecond)
			defer cancel()
			return linearizability.Result{}, d.Begin(ctx, p.sites, deadline)
		})
		if err != nil && !p.undone(err) {
			return nil
		}
		return err
	})
}

// isSeenByOther reports whether another site has seen the transaction, and will end it.
func (p *twoPhasePlayer) isSeenByOther(d *participant) bool {
	p.client.Pause(retryPause)
	signs, _, err := p.client.Conn().Children(d.path)
	return err == nil && len(signs) > 0
}

// awaitBegin waits until the transaction has begun, and reports whether it has.
func (p *twoPhasePlayer) awaitBegin(d *participant) bool {
	ctx, cancel := p.client.Within(p.client.Context(), hearsay)
	defer cancel()
	for ; ctx.Err() == nil; p.client.Pause(retryPause) {
		if begun, _, err := p.client.Conn().Exists(d.path); err == nil && begun {
			return true
		}
	}
	return false
}

// join shows that the site is present. In one of six cases it leaves at once, and comes back as
// another process would.
func (p *twoPhasePlayer) join(d *participant, round int) {
	joiner, ok := d.TwoPhaser.(TwoPhaseJoiner)
	if !ok || !sometimes(p.client, "Join", scenario.At("join", round), 2) {
		return
	}
	p.retry(d, ops.Join, d.name+" "+p.client.Owner(), scenario.At("joining", round),
		func(ctx context.Context) error {
			return joiner.Join(ctx, p.client.Owner())
		})
	if p.client.Choose(scenario.At("go", round), 6) > 0 {
		return
	}
	p.client.Hold(scenario.At("before going", round), nil)
	if err := joiner.Close(p.client.Context()); err != nil {
		p.client.Pause(retryPause)
	}
	d.TwoPhaser = p.open(p.env(d.path))
}

// vote votes yes in seven of eight cases.
func (p *twoPhasePlayer) vote(d *participant, round int) {
	yes := p.client.Choose(scenario.At("yes", round), 8) > 0
	word := "no"
	if yes {
		word = "yes"
	}
	p.retry(d, ops.Vote, d.name+" "+p.client.Owner()+" "+word, scenario.At("voting", round),
		func(ctx context.Context) error {
			return d.Vote(ctx, p.client.Owner(), yes)
		})
}

// await waits for the decision.
func (p *twoPhasePlayer) await(d *participant, label string) {
	p.client.Persist(func(attempt int) error {
		return p.do(d, ops.Await, d.name,
			func(ctx context.Context) (linearizability.Result, error) {
				ctx, cancel := p.client.Hasty(ctx, attempt, label, 6, time.Millisecond,
					50*time.Millisecond)
				defer cancel()
				commit, err := d.Await(ctx)
				d.decided = err == nil
				if commit {
					return linearizability.Result{Output: ops.Commit}, err
				}
				return linearizability.Result{Output: ops.Abort}, err
			})
	})
}

// done says that the site has carried out the decision, if the object has Done.
func (p *twoPhasePlayer) done(d *participant, label string) {
	finisher, ok := d.TwoPhaser.(TwoPhaseFinisher)
	if ok {
		p.client.Optional("Done", d.decided && !d.over)
	}
	if !ok || d.over || !d.decided {
		return
	}
	p.retry(d, ops.Done, d.name+" "+p.client.Owner(), label, func(ctx context.Context) error {
		return finisher.Done(ctx, p.client.Owner())
	})
}

// forget removes a transaction, unless some sites have not finished it. The last site to finish can
// remove it.
func (p *twoPhasePlayer) forget(d *participant) {
	if d.over || !d.decided {
		return
	}
	p.client.Persist(func(int) error {
		return p.do(d, ops.Forget, d.name,
			func(ctx context.Context) (linearizability.Result, error) {
				return linearizability.Result{}, d.Forget(ctx)
			})
	})
}
