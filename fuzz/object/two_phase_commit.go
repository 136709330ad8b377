package object

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

// TwoPhaser is one client's side of one transaction of a two-phase commit under test.
// Methods that find no transaction return an error that wraps
// recipes.ErrNoTransaction. An error of which recipes.OutcomeOf says NotApplied
// promises that nothing was done. What has the methods of TwoPhaseJoiner or
// TwoPhaseFinisher is tested with them.
type TwoPhaser interface {
	// Begin begins it, and is called once for each transaction, unless it says that
	// nothing was done.
	Begin(ctx context.Context, sites []string, deadline time.Time) error
	// Vote votes for a site, always the same.
	Vote(ctx context.Context, site string, yes bool) error
	// Await waits for the decision.
	Await(ctx context.Context) (commit bool, err error)
	// Forget removes it, if all have finished; otherwise the error wraps
	// recipes.ErrUnfinished.
	Forget(ctx context.Context) error
}

// TwoPhaseJoiner is a TwoPhaser that shows that a site is there.
type TwoPhaseJoiner interface {
	Join(ctx context.Context, site string) error
	// Close ends that, and all else.
	Close(ctx context.Context) error
}

// TwoPhaseFinisher is a TwoPhaser that is told when a site has done what was decided.
type TwoPhaseFinisher interface {
	Done(ctx context.Context, site string) error
}

// TwoPhaseClaims say what a two-phase commit claims to be.
type TwoPhaseClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the directory of the transactions; "" means /transactions. Each is a znode
	// in it from its begin until it is forgotten.
	Path string
	// Read tells what the znodes below a transaction say. Nil reads those of
	// recipes.TwoPhaseCommit.
	Read linearizability.TransactionReader
	// LeavesAtRest are patterns (path.Match) of znodes that may stay behind.
	LeavesAtRest []string
}

// TwoPhaseWorkload makes a workload of a two-phase commit in which each client is a
// site, and one is the coordinator, another one in each round. Sites vote yes or no,
// or not at all; some show that they are there, and go before they have voted; some come too late. The coordinator may go as soon as it has begun. Each client calls
// open for each transaction with the path of that, and again when it comes back.
func TwoPhase(open func(Env) TwoPhaser, given ...TwoPhaseClaims) scenario.Workload {
	claims := only(given)
	if claims.Path == "" {
		claims.Path = transactionsPath
	}
	return scenario.Workload{
		Name:  "two-phase-commit",
		About: claims.About,
		Play: func(p *scenario.Player, s scenario.Script) {
			tp := &twoPhasePlayer{Player: p, claims: claims, open: open, sites: s.ClientNames()}
			died := make([]bool, s.Rounds)
			for round := range s.Rounds {
				died[round] = tp.turn(round)
			}
			for round := range s.Rounds {
				if !died[round] {
					tp.finish(round)
				}
			}
		},
		Length: func(s scenario.Script) time.Duration {
			return time.Duration(s.Rounds) * (hearsay + 2*scenario.LongHold + time.Second)
		},
		Judge: claims.judge,
	}
}

func (c TwoPhaseClaims) judge(e scenario.Evidence) (linearizability.Report, error) {
	if len(e.Plan) == 0 && !slices.ContainsFunc(e.History.Server,
		func(ev linearizability.ServerEvent) bool {
			return ev.Kind == linearizability.NodeCreated && strings.HasPrefix(ev.Path, c.Path+"/")
		}) {
		return linearizability.Report{},
			fmt.Errorf("%w: no znode was ever created under %s; set TwoPhaseClaims.Path",
				scenario.ErrClaims, c.Path)
	}
	opts := linearizability.TwoPhase{Path: c.Path, Read: c.Read, AllowedAtRest: c.LeavesAtRest}
	return linearizability.Judge(e.History, e.Rest, opts), nil
}

const (
	// transactionsPath is the directory that the workloads of two-phase commits use.
	transactionsPath = "/transactions"
	// hearsay is how long a site waits to hear of a transaction, which may be over
	// before it does.
	hearsay = 30 * time.Second
)

type twoPhasePlayer struct {
	*scenario.Player
	claims TwoPhaseClaims
	open   func(Env) TwoPhaser
	sites  []string
}

// deal is one client's side of one transaction.
type deal struct {
	TwoPhaser
	name, path string
	over       bool // there is none, or not any more
	decided    bool
}

func (p *twoPhasePlayer) deal(round int) *deal {
	name := fmt.Sprintf("t%d", round)
	path := p.claims.Path + "/" + name
	return &deal{TwoPhaser: p.open(Env{Conn: p.Conn(), Name: p.Name(), Path: path}), name: name,
		path: path}
}

// turn is one transaction. It reports whether the client has died in it: then it has
// no more to do with it.
func (p *twoPhasePlayer) turn(round int) (died bool) {
	d := p.deal(round)
	if p.Index() == round%len(p.sites) {
		p.begin(d, round)
		if p.Choose(scenario.At("die", round), 6) == 0 && p.isHeard(d) {
			return true
		}
	}
	if !p.hears(d) {
		return false
	}
	p.join(d, round)
	if p.Choose(scenario.At("vote", round), 10) > 0 && !d.over {
		p.Hold(scenario.At("before vote", round), nil)
		p.vote(d, round)
	}
	p.await(d, scenario.At("await", round))
	p.done(d, scenario.At("done", round))
	if p.Choose(scenario.At("forget", round), 3) == 0 {
		p.forget(d)
	}
	return false
}

// finish looks at a transaction once more, and ends it.
func (p *twoPhasePlayer) finish(round int) {
	d := p.deal(round)
	p.await(d, scenario.At("finish await", round))
	p.done(d, scenario.At("finish done", round))
	p.forget(d)
}

// do is one call on a transaction, which is over if there is none.
func (p *twoPhasePlayer) do(d *deal, kind, operands string,
	work func(ctx context.Context) (linearizability.Result, error)) error {
	call := p.Begin(kind, operands)
	r, err := work(p.Context())
	d.over = errors.Is(err, recipes.ErrNoTransaction)
	switch {
	case d.over && kind == ops.Await:
		call.OK(linearizability.Result{Empty: true})
	case err == nil:
		call.OK(r)
	case recipes.OutcomeOf(err) == recipes.NotApplied:
		call.Failed(err)
	default:
		call.Unknown(r, err)
	}
	if d.over {
		return nil
	}
	return err
}

// persist is do until it succeeds, now and then with little patience at first.
func (p *twoPhasePlayer) persist(d *deal, kind, operands, label string,
	work func(ctx context.Context) error) bool {
	return p.Persist(func(attempt int) error {
		return p.do(d, kind, operands, func(ctx context.Context) (linearizability.Result, error) {
			if attempt == 0 {
				var cancel context.CancelFunc
				ctx, cancel = p.Hasty(ctx, label, 8, time.Millisecond, 30*time.Millisecond)
				defer cancel()
			}
			return linearizability.Result{}, work(ctx)
		})
	})
}

// begin begins a transaction that has between half a second and three and a half. If
// it cannot know whether it has, it does not try again: the others may have ended it.
func (p *twoPhasePlayer) begin(d *deal, round int) {
	patience := 500*time.Millisecond + time.Duration(p.Choose(scenario.At("deadline", round),
		3000))*time.Millisecond
	deadline := p.Clock(patience)
	input := linearizability.BeginInput(d.name, p.sites, p.VirtualTime(deadline))
	p.Persist(func(attempt int) error {
		err := p.do(d, ops.Begin, input, func(ctx context.Context) (linearizability.Result, error) {
			if attempt == 0 {
				var cancel context.CancelFunc
				ctx, cancel = p.Hasty(ctx, scenario.At("begin", round), 8, time.Millisecond,
					30*time.Millisecond)
				defer cancel()
			}
			return linearizability.Result{}, d.Begin(ctx, p.sites, deadline)
		})
		if recipes.OutcomeOf(err) != recipes.NotApplied || errors.Is(err,
			recipes.ErrTransactionExists) {
			return nil
		}
		return err
	})
}

// isHeard reports whether another site has heard of the transaction, and will end it.
func (p *twoPhasePlayer) isHeard(d *deal) bool {
	p.Pause(scenario.RetryPause)
	signs, _, err := p.Conn().Children(d.path)
	return err == nil && len(signs) > 0
}

// hears waits until the transaction was begun.
func (p *twoPhasePlayer) hears(d *deal) bool {
	for end := p.Now() + hearsay; p.Alive() && p.Now() < end; p.Pause(scenario.RetryPause) {
		if begun, _, err := p.Conn().Exists(d.path); err == nil && begun {
			return true
		}
	}
	return false
}

// join shows that the site is there; in one of six cases it goes again at once, and
// comes back as another process would.
func (p *twoPhasePlayer) join(d *deal, round int) {
	joiner, ok := d.TwoPhaser.(TwoPhaseJoiner)
	if !ok || p.Choose(scenario.At("join", round), 2) > 0 {
		return
	}
	p.persist(d, ops.Join, d.name+" "+p.Name(), scenario.At("joining", round),
		func(ctx context.Context) error {
			return joiner.Join(ctx, p.Name())
		})
	if p.Choose(scenario.At("go", round), 6) > 0 {
		return
	}
	p.Hold(scenario.At("before going", round), nil)
	if err := joiner.Close(p.Context()); err != nil {
		p.Pause(scenario.RetryPause)
	}
	d.TwoPhaser = p.open(Env{Conn: p.Conn(), Name: p.Name(), Path: d.path})
}

// vote votes yes in seven of eight cases.
func (p *twoPhasePlayer) vote(d *deal, round int) {
	yes := p.Choose(scenario.At("yes", round), 8) > 0
	word := "no"
	if yes {
		word = "yes"
	}
	p.persist(d, ops.Vote, d.name+" "+p.Name()+" "+word, scenario.At("voting", round),
		func(ctx context.Context) error {
			return d.Vote(ctx, p.Name(), yes)
		})
}

// await waits for the decision.
func (p *twoPhasePlayer) await(d *deal, label string) {
	p.Persist(func(attempt int) error {
		return p.do(d, ops.Await, d.name,
			func(ctx context.Context) (linearizability.Result, error) {
				if attempt == 0 {
					var cancel context.CancelFunc
					ctx, cancel = p.Hasty(ctx, label, 6, time.Millisecond, 50*time.Millisecond)
					defer cancel()
				}
				commit, err := d.Await(ctx)
				d.decided = err == nil
				if commit {
					return linearizability.Result{Output: ops.Commit}, err
				}
				return linearizability.Result{Output: ops.Abort}, err
			})
	})
}

// done says that the site has done what was decided, if there is a word for that.
func (p *twoPhasePlayer) done(d *deal, label string) {
	finisher, ok := d.TwoPhaser.(TwoPhaseFinisher)
	if !ok || d.over || !d.decided {
		return
	}
	p.persist(d, ops.Done, d.name+" "+p.Name(), label, func(ctx context.Context) error {
		return finisher.Done(ctx, p.Name())
	})
}

// forget removes a transaction, unless others have not finished it. The last one to
// finish it can.
func (p *twoPhasePlayer) forget(d *deal) {
	if d.over || !d.decided {
		return
	}
	p.Persist(func(int) error {
		err := p.do(d, ops.Forget, d.name,
			func(ctx context.Context) (linearizability.Result, error) {
				return linearizability.Result{}, d.Forget(ctx)
			})
		if errors.Is(err, recipes.ErrUnfinished) {
			return nil
		}
		return err
	})
}

// coordinated is the transaction of package recipes.
type coordinated struct{ *recipes.TwoPhaseCommit }

func (c coordinated) Begin(ctx context.Context, sites []string, deadline time.Time) error {
	return c.TwoPhaseCommit.Begin(ctx, recipes.Transaction{Sites: sites, Deadline: deadline})
}

func (c coordinated) Await(ctx context.Context) (bool, error) {
	d, err := c.TwoPhaseCommit.Await(ctx)
	return d.Commit, err
}

func twoPhaseCommit() scenario.Workload {
	return TwoPhase(func(env Env) TwoPhaser {
		return coordinated{recipes.NewTwoPhaseCommit(env.Conn, env.Path)}
	}, TwoPhaseClaims{
		About: "the two-phase commit of package recipes",
	}).Named("recipes.TwoPhaseCommit")
}
