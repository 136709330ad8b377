package object

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/value"
)

// ValueState is a shared value, or a setting, at one moment. The zero ValueState stands for one
// that does not exist.
type ValueState struct {
	Data    []byte
	Exists  bool
	Version int32 // of the znode, from 0; each write adds 1
}

// Valuer is a shared value under test. Set writes without a condition and returns the new state.
// Get reads a state that is no older than the call: with several servers a plain read may be older.
// CompareAndSet writes if the value has the version of seen, or if neither exists, and returns the
// new state and true; otherwise it returns the present state and false.
type Valuer interface {
	Get(ctx context.Context) (ValueState, error)
	Set(ctx context.Context, data []byte) (ValueState, error)
	CompareAndSet(
		ctx context.Context, seen ValueState, data []byte,
	) (now ValueState, done bool, err error)
}

// Awaiter is a Valuer that can wait for a state other than seen.
type Awaiter interface {
	Next(ctx context.Context, seen ValueState) (ValueState, error)
}

// ValueClaims are the promises of a shared value.
type ValueClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the value's znode; "" means /value.
	Path string
	// Value reads the znode's data. It returns false if the znode holds no value yet. Nil means
	// that the data is the value.
	Value func(data string) (string, bool)
	// Definite says that an error of a write that is not ambiguous (see [ErrAmbiguous]) promises
	// that nothing was written and nothing will be.
	Definite bool
	// StaleReads is about Get, Next and a CompareAndSet that returns false; see Claims in the
	// package comment.
	StaleReads bool
	// LeavesAtRest are patterns (path.Match) of bookkeeping znodes below Path that may stay.
	LeavesAtRest []string
}

// Value makes a workload of a shared value. Each client calls open once. Twice a round it waits for
// a change or reads the value, and writes data that it writes only once: with or without a
// comparison with the state that it saw last, and now and then with a short context.
func Value(open func(Env) Valuer, given ...ValueClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/value")
	return judgedAt(scenario.Workload{
		Name:  "value",
		Main:  []string{ops.Write, ops.CAS},
		About: claims.About,
		Play: inRounds(open, claims.Path, 2,
			func(p *scenario.Player, h *scenario.Handle[Valuer]) (turn, end func(int)) {
				v := valuePlayer{client: p, value: h.Now, definite: claims.Definite}
				return v.turn, v.end
			}),
		Shared: true,
		Length: func(s scenario.Script) time.Duration {
			return time.Duration(2*s.Rounds) * nextPatience
		},
	}, claims.Path, ops.Write, claims.of)
}

func (c ValueClaims) of(scenario.Evidence) linearizability.Claims {
	return value.Claims{
		Path: c.Path, Value: nameIn(c.Value), StaleReads: c.StaleReads,
		AllowedAtRest: c.LeavesAtRest,
	}
}

type valuePlayer struct {
	client   *scenario.Player
	value    func() Valuer
	definite bool
	seen     ValueState // last
}

func (p *valuePlayer) turn(number int) {
	p.read(number)
	p.write(number)
}

// end repeats the kinds of calls whose last one has failed.
func (p *valuePlayer) end(first int) {
	p.client.Insist(ops.Read, first, func(int) error {
		return p.readBy(p.client.Context(), p.value().Get)
	})
	first = p.client.Insist(ops.Write, first, func(turn int) error {
		return p.set(p.client.Context(), newPayload(p.client, turn))
	})
	p.client.Insist(ops.CAS, first, func(turn int) error {
		return p.compareAndSet(p.client.Context(), newPayload(p.client, turn))
	})
}

// nextPatience is how long a client waits for a change before it goes on.
const nextPatience = 20 * time.Second

// read reads the value, or waits until it changes.
func (p *valuePlayer) read(turn int) {
	ctx, cancel := p.client.Within(p.client.Context(),
		nextPatience+time.Duration(p.client.Choose(scenario.At("read", turn), 1000))*time.Microsecond)
	defer cancel()
	look := p.value().Get
	if a, ok := p.value().(Awaiter); ok &&
		sometimes(p.client, "Next", scenario.At("next", turn), 3) {
		look = func(ctx context.Context) (ValueState, error) { return a.Next(ctx, p.seen) }
	}
	_ = p.readBy(ctx, look)
}

func (p *valuePlayer) readBy(
	ctx context.Context, look func(context.Context) (ValueState, error),
) error {
	c := p.client.Begin(ops.Read, "")
	state, err := look(ctx)
	if err != nil {
		c.Failed(err) // a failed read changes nothing
		p.client.Pause(retryPause)
		return err
	}
	c.OK(stateResult(state))
	p.seen = state
	return nil
}

func stateResult(state ValueState) linearizability.Result {
	if !state.Exists {
		return linearizability.Result{Empty: true}
	}
	return linearizability.Result{Output: value.Versioned(
		payloadName(string(state.Data)), state.Version)}
}

// write writes data that no other call of the client writes. The judge finds out
// whether a failed one took effect.
func (p *valuePlayer) write(turn int) {
	data := newPayload(p.client, turn)
	ctx, cancel := p.client.Hasty(p.client.Context(), 0, scenario.At("write", turn), 4,
		time.Millisecond, 20*time.Millisecond)
	defer cancel()
	if p.client.Choose(scenario.At("kind", turn), 2) == 0 {
		_ = p.set(ctx, data)
	} else {
		_ = p.compareAndSet(ctx, data)
	}
}

// newPayload is the name of a value that no other call of the client writes, or empty; see isEmpty.
// In one run of four the clients write the same values, so that a value comes back in another
// version.
func newPayload(p *scenario.Player, turn int) string {
	if isEmpty(p, turn) {
		return ""
	}
	if p.Goroutine() == 0 && p.OfRun("same values", 4) == 0 {
		return named(p, fmt.Sprint(turn+1))
	}
	return named(p, fmt.Sprintf("%s%d", p.Name(), turn+1))
}

func (p *valuePlayer) set(ctx context.Context, data string) error {
	c := p.client.Begin(ops.Write, data)
	state, err := p.value().Set(ctx, payloadOf(data))
	if err != nil {
		return failed(p.client, c, p.definite, err)
	}
	c.OK(stateResult(state))
	p.seen = state
	return nil
}

func (p *valuePlayer) compareAndSet(ctx context.Context, data string) error {
	expected := int32(-1)
	if p.seen.Exists {
		expected = p.seen.Version
	}
	c := p.client.Begin(ops.CAS, value.Versioned(data, expected))
	state, done, err := p.value().CompareAndSet(ctx, p.seen, payloadOf(data))
	switch {
	case err != nil:
		return failed(p.client, c, p.definite, err)
	case done:
		c.OK(stateResult(state))
	default:
		c.OK(linearizability.Result{Output: ops.Refused})
	}
	p.seen = state
	return nil
}
