package object

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/queue"
)

// Queuer is a queue under test. Offer appends an element. Take waits for the first element and
// removes it. An error of Take that wraps the error of its context must mean that nothing was
// taken, unless it is ambiguous, too; see [ErrAmbiguous]. An element that the queue has removed and
// returned to nobody is lost all the same: a plain get and delete loses one if the reply is lost,
// and needs the claim MayLose. The methods of [Poller] and [Peeker] are optional and tested, too;
// the rule for errors of Take holds for those of Poll.
type Queuer interface {
	Offer(ctx context.Context, data []byte) error
	Take(ctx context.Context) ([]byte, error)
}

// Poller is a Queuer that can take the first element without waiting; ok is false if the queue is
// empty.
type Poller interface {
	Poll(ctx context.Context) (data []byte, ok bool, err error)
}

// Peeker is a Queuer that can show the first element without taking it; ok is false if the queue is
// empty.
type Peeker interface {
	Peek(ctx context.Context) (data []byte, ok bool, err error)
}

// QueueClaims are the promises of a queue.
type QueueClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the directory of all its znodes; "" means /queue.
	Path string
	// Items is the directory with the elements as its children; "" means Path.
	Items string
	// Element returns the element in a znode's data, and false if there is none. It is for queues
	// that store more than the element. Nil means that the data is the element.
	Element func(data string) (string, bool)
	// MayLose and MayDuplicate say that the queue delivers an element at most once, or at least
	// once. Without them it promises exactly once. No claim allows an acknowledged Offer that has
	// stored nothing.
	MayLose, MayDuplicate bool
	// StaleReads is about Peek, an empty Poll and, with MayOvertake, the list that a take makes;
	// see Claims in the package comment.
	StaleReads bool
	// Unordered says that the queue does not promise FIFO order.
	Unordered bool
	// MayOvertake says that a take from a priority or delay queue may pass over an element that is
	// offered while the take is under way, and after the element that it takes.
	MayOvertake bool
	// Distinct says that the elements must differ, and that none may be empty.
	Distinct bool
	// LeavesAtRest are patterns (path.Match) of bookkeeping znodes that may stay.
	LeavesAtRest []string
}

// Queue makes a workload of a queue. Each client calls open once. In each round it offers an
// element and takes one, now and then after a peek, by a poll, or with a short context at first.
// With several clients the first only offers and the second only takes, two elements a round, so
// that takers wait at an empty queue. In some runs many elements are equal, or empty.
func Queue(open func(Env) Queuer, given ...QueueClaims) scenario.Workload {
	return queueOf("queue", ofKindQueue, open, given,
		func(_ *scenario.Player, h *scenario.Handle[Queuer], _ int, element string) (
			string, offer,
		) {
			return element, func(ctx context.Context) error {
				return h.Now().Offer(ctx, payloadOf(element))
			}
		})
}

// queueOf makes a workload of a kind of queue. put returns the recorded input of an offer of the
// element, and the call that offers it.
func queueOf[Q taker](
	name string, kind queueKind, open func(Env) Q, given []QueueClaims,
	put func(p *scenario.Player, h *scenario.Handle[Q], round int, element string) (string, offer),
) scenario.Workload {
	claims := queueClaims(given)
	return claims.workload(name, kind, scenario.Shared(opener(open, claims.Path),
		func(p *scenario.Player, s scenario.Script, h *scenario.Handle[Q]) {
			queuePlayer{
				client: p, distinct: claims.Distinct, queue: func() taker { return h.Now() },
				put: func(round int, element string) (string, offer) {
					return put(p, h, round, element)
				},
			}.play(s)
		}))
}

// queueKind turns the claims of a FIFO queue into those of a kind of queue.
type queueKind func(queue.Claims) linearizability.Claims

func ofKindQueue(q queue.Claims) linearizability.Claims { return q }

// queueClaims returns the claims of a queue with their default path.
func queueClaims(given []QueueClaims) QueueClaims {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, queuePath)
	return claims
}

// workload makes a workload of a kind of queue. The claims must have a path.
func (c QueueClaims) workload(
	name string, kind queueKind, play func(*scenario.Player, scenario.Script),
) scenario.Workload {
	c.Element = elementIn(c.Element)
	return scenario.Workload{
		Name:   name,
		About:  c.About,
		Main:   []string{ops.Offer},
		Play:   play,
		Shared: true,
		Length: func(s scenario.Script) time.Duration {
			return time.Duration(2*s.Rounds) * takePatience
		},
		Properties: kind(c.options()).Properties(),
		Judge: func(e scenario.Evidence) (linearizability.Report, error) {
			if err := c.sees(e); err != nil {
				return linearizability.Report{}, err
			}
			opts := c.options()
			opts.Patience = patience(e.Plan)
			e.History, opts.AllowedAtRest = c.explained(e.History)
			return linearizability.Judge(e.History, e.Rest, kind(opts)), nil
		},
	}
}

// options are the claims in the form that the judge takes.
func (c QueueClaims) options() queue.Claims {
	return queue.Claims{
		Path: c.Path, Items: c.Items, Element: c.Element, MayLose: c.MayLose,
		MayDuplicate: c.MayDuplicate, Unordered: c.Unordered, MayOvertake: c.MayOvertake,
		StaleReads: c.StaleReads,
	}
}

// sees returns an error if offers succeeded in a run without faults, and no offered element was
// stored as a child of the directory of the claims: then the queue stores elements at another
// place, or in another form.
func (c QueueClaims) sees(e scenario.Evidence) error {
	if len(e.Plan) > 0 || !succeeded(e.History, ops.Offer) {
		return nil
	}
	offered := map[string]bool{}
	for _, op := range e.History.Ops {
		if element := elementOf(op.Input); op.Kind == ops.Offer && element != noPayload {
			offered[element] = true
		}
	}
	if len(offered) == 0 {
		return nil
	}
	dir, other := c.dir(), ""
	for _, ev := range e.History.Server {
		element, ok := c.Element(ev.Data)
		switch {
		case !ok || !stores(ev) || !offered[element]:
		case path.Dir(ev.Path) == dir:
			return nil
		default:
			other = cmp.Or(other, " (one is at "+ev.Path+")")
		}
	}
	return fmt.Errorf("offers succeeded, but no child of %s has an offered element as its data%s: "+
		"make the queue at Env.Path, or set QueueClaims.Items to the directory of the elements, "+
		"or QueueClaims.Element to read their data", dir, other)
}

// elementOf returns the element of an offer's input. The place of the element in the queue may
// follow it.
func elementOf(input string) string {
	if i := strings.IndexAny(input, "#@"); i >= 0 {
		return input[:i]
	}
	return input
}

// taker is a queue of any kind, for a client that takes elements. The client also calls the methods
// of Poller and Peeker, if the queue has them.
type taker interface {
	Take(ctx context.Context) ([]byte, error)
}

// offer calls a queue's Offer.
type offer func(ctx context.Context) error

// queuePlayer is a client of a queue of any kind.
type queuePlayer struct {
	client   *scenario.Player
	distinct bool         // no two elements are equal
	queue    func() taker // the present one; it may change between calls
	// put returns the recorded input of an offer of the element, and the call that offers it.
	put func(round int, element string) (input string, do offer)
	// offered, unless it is nil, is called after an offer.
	offered func(round int)
	// done, unless it is nil, is called after an element was taken.
	done func(round int)
}

// play is the script of one client.
func (p queuePlayer) play(s scenario.Script) {
	for turn := range p.client.Rounds(2 * s.Rounds) {
		p.client.Rest(turn)
		offers, takes := turn%2 == 0, turn%2 == 1
		if s.Clients > 1 && p.client.Index() < 2 {
			offers, takes = p.client.Index() == 0, p.client.Index() == 1
		}
		if offers {
			_ = p.offer(turn) // the judge finds out whether a failed one took effect
			if p.offered != nil {
				p.offered(turn)
			}
		}
		if takes {
			p.get(turn)
		}
	}
	p.end(2 * s.Rounds)
}

// end repeats the kinds of calls whose last one has failed.
func (p queuePlayer) end(first int) {
	first = p.client.Insist(ops.Offer, first, p.offer)
	first = p.client.Insist(ops.Take, first, func(turn int) error {
		ctx, cancel := p.client.Within(p.client.Context(), takePatience)
		defer cancel()
		err := p.takeOnce(ctx, turn, 1)
		p.finish(turn, err == nil)
		return scenario.Waited(ctx, err)
	})
	first = p.client.Insist(ops.Poll, first, func(turn int) error {
		got, err := p.pollOnce(p.queue().(Poller))
		p.finish(turn, got)
		return err
	})
	p.client.Insist(ops.Peek, first, func(int) error { return p.peekOnce(p.queue().(Peeker)) })
}

// offer appends one element.
func (p queuePlayer) offer(round int) error {
	input, do := p.put(round, p.element(round))
	c := p.client.Begin(ops.Offer, input)
	if err := do(p.client.Context()); err != nil {
		c.Unknown(linearizability.Result{}, err)
		p.client.Pause(retryPause)
		return err
	}
	c.OK(linearizability.Result{})
	return nil
}

// takePatience is how long a client waits for an element before it goes on without one: the offer
// of another client may have failed. It is longer than four faults and the ends of the sessions
// that they cost, so that the judge can tell a take that ignores an element from one that could not
// see it.
const takePatience = time.Minute

// patience is how long an element may stay in the queue while a take waits: the length of the
// faults, and of a session that they end. 0 means that the plan is too long and nothing is judged.
func patience(plan []fault.Fault) time.Duration {
	d := 2 * scenario.SessionTimeout
	for _, f := range plan {
		d += f.For
	}
	if d >= takePatience {
		return 0
	}
	return d
}

// get takes one element.
func (p queuePlayer) get(round int) {
	p.peek(round)
	p.finish(round, p.poll(round) || p.take(round))
}

// finish does what follows after an element was taken.
func (p queuePlayer) finish(round int, taken bool) {
	if taken && p.done != nil {
		p.done(round)
	}
}

// sometimes draws whether an optional method is called now: one time in oneIn.
func sometimes(p *scenario.Player, method, label string, oneIn int) bool {
	calls := p.Choose(label, oneIn) == 0
	p.Optional(method, calls)
	return calls
}

// peek looks at the first element, in some rounds, if the queue has Peek.
func (p queuePlayer) peek(round int) {
	q, ok := p.queue().(Peeker)
	if !ok || !sometimes(p.client, "Peek", scenario.At("peek", round), 4) {
		return
	}
	_ = p.peekOnce(q)
}

func (p queuePlayer) peekOnce(q Peeker) error {
	c := p.client.Begin(ops.Peek, "")
	data, ok, err := q.Peek(p.client.Context())
	if err != nil {
		c.Failed(err) // a failed peek takes nothing
		p.client.Pause(retryPause)
		return err
	}
	c.OK(shown(data, ok))
	return nil
}

// poll takes an element without waiting, in some rounds, if the queue has Poll. It reports whether
// it got one.
func (p queuePlayer) poll(round int) bool {
	q, ok := p.queue().(Poller)
	if !ok || !sometimes(p.client, "Poll", scenario.At("poll", round), 4) {
		return false
	}
	got, _ := p.pollOnce(q)
	return got
}

func (p queuePlayer) pollOnce(q Poller) (got bool, err error) {
	c := p.client.Begin(ops.Poll, "")
	data, ok, err := q.Poll(p.client.Context())
	if err != nil {
		c.Unknown(p.ambiguousResult(data), err)
		p.client.Pause(retryPause)
		return false, err
	}
	c.OK(shown(data, ok))
	return ok, nil
}

// shown is the result of a call that returned an element, or found none.
func shown(data []byte, ok bool) linearizability.Result {
	if !ok {
		return linearizability.Result{Empty: true}
	}
	return linearizability.Result{Output: elementName(string(data))}
}

// ambiguousResult is the result of a call that returned an element with an error. No bytes mean an
// empty element, if the run has empty elements.
func (p queuePlayer) ambiguousResult(data []byte) linearizability.Result {
	name := payloadName(string(data))
	if p.offersEmpty() {
		name = elementName(string(data))
	}
	return linearizability.Result{Output: name}
}

// take removes one element. After an error it tries again. In some rounds the first attempt has a
// short context, so that it ends at any moment. It reports whether it got an element.
func (p queuePlayer) take(round int) bool {
	ctx, cancel := p.client.Within(p.client.Context(),
		takePatience+time.Duration(p.client.Choose(scenario.At("patience", round), 1000))*time.Microsecond)
	defer cancel()
	start, began := time.Now(), time.Now()
	for attempt := 0; ctx.Err() == nil; attempt++ {
		began = time.Now()
		if p.takeOnce(ctx, round, attempt) == nil {
			return true
		}
	}
	if time.Since(began) > began.Sub(start) { // it waited longer than all before it took
		p.client.Excuse(ops.Take)
	}
	return false
}

// takeOnce calls Take. The first attempt has a short context in some rounds.
func (p queuePlayer) takeOnce(ctx context.Context, round, attempt int) error {
	ctx, cancel := p.client.Hasty(ctx, attempt, scenario.At("take", round), 4,
		time.Millisecond, 30*time.Millisecond)
	defer cancel()
	c := p.client.Begin(ops.Take, "")
	data, err := p.queue().Take(ctx)
	switch {
	case err == nil:
		c.OK(shown(data, true))
	case ctx.Err() != nil && errors.Is(err, ctx.Err()) && !isAmbiguous(err):
		c.Failed(err)
	default:
		c.Unknown(p.ambiguousResult(data), err)
		p.client.Pause(retryPause)
	}
	return err
}

// queuePath is the directory that the workloads of queues use.
const queuePath = "/queue"
