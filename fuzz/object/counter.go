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

// Counterer is a counter under test. Add adds and returns the new value. An error of Add that is
// ambiguous (see [ErrAmbiguous]) means that the number may have been added; see
// CounterClaims.Definite for other errors. The method of [Getter] is optional and tested, too.
type Counterer interface {
	Add(ctx context.Context, delta int64) (int64, error)
}

// Getter is a Counterer that can read its value.
type Getter interface {
	Get(ctx context.Context) (int64, error)
}

// CounterClaims are the promises of a counter.
type CounterClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the counter's znode; "" means /counter.
	Path string
	// Value reads the znode's data. It returns false if the znode holds no value yet. Nil reads
	// decimal digits.
	Value func(data string) (int64, bool)
	// Definite says that an error of Add that is not ambiguous promises that nothing was added and
	// nothing will be.
	Definite   bool
	StaleReads bool // of Get; see Claims in the package comment
	// LeavesAtRest are patterns (path.Match) of bookkeeping znodes below Path that may stay.
	LeavesAtRest []string
}

// Counter makes a workload of a counter. Each client calls open once. Twice a round it adds a
// number that no other call adds, now and then with a short context, and reads the value.
func Counter(open func(Env) Counterer, given ...CounterClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/counter")
	return judgedAt(scenario.Workload{
		Name:  "counter",
		About: claims.About,
		Play: inRounds(open, claims.Path, 2,
			func(p *scenario.Player, h *scenario.Handle[Counterer]) (turn, end func(int)) {
				c := counterPlayer{client: p, counter: h.Now, definite: claims.Definite}
				return c.turn, c.end
			}),
		Shared: true,
	}, claims.Path, ops.Add, claims.of)
}

func (c CounterClaims) of(scenario.Evidence) linearizability.Claims {
	return value.Counter{Path: c.Path, Value: c.Value, StaleReads: c.StaleReads,
		AllowedAtRest: c.LeavesAtRest}
}

type counterPlayer struct {
	client   *scenario.Player
	counter  func() Counterer
	definite bool
}

func (p counterPlayer) turn(number int) {
	p.add(number)
	p.get(number)
}

// end repeats the kinds of calls whose last one has failed.
func (p counterPlayer) end(first int) {
	add := func(turn int) error { return p.addOnce(p.client.Context(), turn) }
	p.client.Insist(ops.Add, first, add)
	p.client.Insist(ops.Get, first, func(int) error { return p.getOnce(p.counter().(Getter)) })
}

// add adds once, now and then with a short context.
func (p counterPlayer) add(turn int) {
	ctx, cancel := p.client.Hasty(p.client.Context(), 0, scenario.At("add", turn), 4,
		time.Millisecond, 20*time.Millisecond)
	defer cancel()
	_ = p.addOnce(ctx, turn) // the judge finds out whether it took effect
}

// addOnce adds a number that no other call of the run adds, so that the judge can tell them apart.
func (p counterPlayer) addOnce(ctx context.Context, turn int) error {
	const clients, turns = 26, 4000 // more than a script has
	delta := int64(1 + p.client.Index() + clients*(turn+turns*p.client.Goroutine()))
	if p.client.Choose(scenario.At("subtract", turn), 4) == 0 {
		delta = -delta
	}
	c := p.client.Begin(ops.Add, strconv.FormatInt(delta, 10))
	value, err := p.counter().Add(ctx, delta)
	if err != nil {
		return failed(p.client, c, p.definite, err)
	}
	c.OK(linearizability.Result{Output: strconv.FormatInt(value, 10)})
	return nil
}

// get reads the value, in half of the turns, if the counter has Get.
func (p counterPlayer) get(turn int) {
	g, ok := p.counter().(Getter)
	if ok && sometimes(p.client, "Get", scenario.At("get", turn), 2) {
		_ = p.getOnce(g)
	}
}

func (p counterPlayer) getOnce(g Getter) error {
	c := p.client.Begin(ops.Get, "")
	value, err := g.Get(p.client.Context())
	if err != nil {
		c.Failed(err) // a failed read changes nothing
		p.client.Pause(retryPause)
		return err
	}
	c.OK(linearizability.Result{Output: strconv.FormatInt(value, 10)})
	return nil
}
