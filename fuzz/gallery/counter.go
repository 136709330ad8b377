package gallery

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

var publishedCounter = []Exhibit{
	{Slug: "added-twice", Alias: "B86", Title: "added twice after a lost reply",
		Source: Code, Link: "https://github.com/python-zk/kazoo/blob/2.11.0/kazoo/recipe/counter.py#L109",
		Bug: "An add reads the counter and writes the sum if the version is the same; after any " +
			"error it does both again. If only the reply was lost, the second read has the sum " +
			"already, and the same is added once more.",
		Property: delivery, Wrong: counterOf(counter{addsAgain: true})},
	{Slug: "gives-up-with-success", Title: "three tries that fail are a success",
		Source: Code, Link: "https://github.com/mausimag/supervisor/blob/7882ca1d8b7d35da72655a35c127350429de68da/atomic.go#L89-L104",
		Bug: "An add reads the counter and writes the sum if the version is the same, three " +
			"times at most. When the third one fails, too, as others have been faster, it " +
			"returns without " +
			"an error, and nothing was added.",
		Property: linearizable, Wrong: crowded(counter{silent: true}),
		Right:  crowded(counter{}),
		Script: scenario.Script{Clients: 5, Rounds: 3}},
}

var plantedCounters = []Exhibit{
	planted("sets whatever the version is", delivery, counterOf(counter{anyVersion: true})),
	planted("takes what was lost for done", delivery, counterOf(counter{assumesSuccess: true})),
	planted("takes what was lost for not done", delivery,
		counterOf(counter{}, object.CounterClaims{Definite: true})),
	planted("never looks again", linearizable,
		object.Counter(func(env object.Env) object.Counterer {
			return &rememberingCounter{counter: counter{conn: env.Conn}}
		})),
}

const counterPath = "/counter"

// counter is the compare-and-set counter. It returns every error to its caller, and is right
// without the flags.
type counter struct {
	conn *zk.Conn

	anyVersion     bool // sets without a condition
	addsAgain      bool // begins anew when a reply was lost
	assumesSuccess bool // takes an addition with a lost reply for done
	silent         bool // takes the third try for done, even if it fails
}

func counterOf(bad counter, claims ...object.CounterClaims) scenario.Workload {
	return object.Counter(func(env object.Env) object.Counterer {
		return bad.on(env.Conn)
	}, claims...)
}

// crowded is a workload of clients that add without a pause.
func crowded(bad counter) scenario.Workload {
	w := beside(counterOf(bad))
	w.Nodes[counterPath] = "0"
	return playing(w, func(p *scenario.Player, round int) {
		delta := int64(1 + p.Index() + 26*round)
		call := p.Begin(ops.Add, strconv.FormatInt(delta, 10))
		sum, err := bad.on(p.Conn()).Add(p.Context(), delta)
		if err != nil {
			call.Unknown(linearizability.Result{}, err)
			return
		}
		call.OK(linearizability.Result{Output: strconv.FormatInt(sum, 10)})
	})
}

func (c counter) on(conn *zk.Conn) *counter {
	c.conn = conn
	return &c
}

func (c *counter) Add(_ context.Context, delta int64) (sum int64, err error) {
	for try := range attempts {
		sum, err = c.addOnce(delta)
		switch {
		case err == nil, c.silent && try == 2:
			return sum, nil
		case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNodeExists):
		case c.assumesSuccess && sum != 0:
			return sum, nil
		case !c.addsAgain:
			return 0, err
		}
	}
	return 0, err
}

func (c *counter) addOnce(delta int64) (int64, error) {
	value, version, err := c.read()
	if errors.Is(err, zk.ErrNoNode) {
		_, err = c.conn.Create(counterPath, strconv.AppendInt(nil, delta, 10), 0, acl)
		return delta, err
	}
	if err != nil {
		return 0, err
	}
	if c.anyVersion {
		version = -1
	}
	_, err = c.conn.Set(counterPath, strconv.AppendInt(nil, value+delta, 10), version)
	return value + delta, err
}

func (c *counter) read() (value int64, version int32, err error) {
	data, stat, err := c.conn.Get(counterPath)
	if err != nil {
		return 0, 0, err
	}
	value, err = strconv.ParseInt(string(data), 10, 64)
	return value, stat.Version, err
}

// rememberingCounter always returns the first value that it has seen.
type rememberingCounter struct {
	counter
	value int64
	known bool
}

func (c *rememberingCounter) Get(context.Context) (_ int64, err error) {
	if !c.known {
		c.value, _, err = c.read()
		c.known = err == nil
	}
	return c.value, ignore(err, zk.ErrNoNode)
}
