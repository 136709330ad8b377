package gallery

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var publishedCounter = []Exhibit{
	{
		Slug: "added-twice", Alias: "B86",
		Title:  "added twice after a lost reply",
		Source: Code, Link: "https://github.com/python-zk/kazoo/blob/2.11.0/kazoo/recipe/counter.py#L109",
		Bug: "An add reads the counter and writes the sum if the version is the same; after any " +
			"error it does both again. If only the reply was lost, the second read has the sum " +
			"already, and the same is added once more.",
		Property: linearizability.Delivery,
		Wrong:    counterOf(counterDefects{addsAgain: true}),
	},
}

var plantedCounters = []Exhibit{
	{
		Title: "sets whatever the version is", Property: linearizability.Delivery,
		Wrong: counterOf(counterDefects{anyVersion: true}),
	},
	{
		Title: "takes what was lost for done", Property: linearizability.Delivery,
		Wrong: counterOf(counterDefects{optimist: true}),
	},
	{
		Title: "takes what was lost for not done", Property: linearizability.Delivery,
		Wrong: object.Counter(func(env object.Env) object.Counterer {
			return &counter{conn: env.Conn}
		}, object.CounterClaims{Definite: true}).Named(""),
	},
	{
		Title: "never looks again", Property: linearizability.Linearizability,
		Wrong: object.Counter(func(env object.Env) object.Counterer {
			return &rememberingCounter{counter: &counter{conn: env.Conn}}
		}).Named(""),
	},
}

const counterPath = "/counter"

// counter is the compare-and-set counter that hands every error to its caller, which is
// right. Each flag makes it wrong.
type counter struct {
	conn *zk.Conn
	bad  counterDefects
}

type counterDefects struct {
	anyVersion bool // sets whatever the version is
	addsAgain  bool // begins anew when a reply was lost
	optimist   bool // takes what was lost for done
}

func counterOf(bad counterDefects) scenario.Workload {
	return object.Counter(func(env object.Env) object.Counterer { return &counter{env.Conn, bad} }).Named("")
}

func (c *counter) Add(_ context.Context, delta int64) (sum int64, err error) {
	for range attempts {
		sum, err = c.addOnce(delta)
		switch {
		case err == nil:
			return sum, nil
		case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNodeExists):
		case c.bad.optimist && sum != 0:
			return sum, nil
		case !c.bad.addsAgain:
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
	if c.bad.anyVersion {
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

// rememberingCounter tells the value that it has seen first.
type rememberingCounter struct {
	*counter
	value int64
	known bool
}

func (c *rememberingCounter) Get(context.Context) (int64, error) {
	if c.known {
		return c.value, nil
	}
	value, _, err := c.read()
	c.value, c.known = value, err == nil
	return value, gone(err)
}
