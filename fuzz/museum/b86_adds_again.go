package museum

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

func addsAgain() Exhibit {
	return Exhibit{
		ID: "B86", Title: "added twice after a lost reply",
		Report: "https://github.com/python-zk/kazoo/blob/master/kazoo/recipe/counter.py",
		Bug: "An add reads the counter and writes the sum if the version is the same; after any error it does both again. If " +
			"only the reply was lost, the second read has the sum already, and the same is added once more.",
		Property: linearizability.Delivery,
		Wrong: object.Counter(func(env object.Env) object.Counterer {
			return insistentCounter{env.Conn}
		}).Named(""),
		Right: builtIn("counter", "recipes.Counter"),
	}
}

// insistentCounter is a counter that adds until it hears that it has.
type insistentCounter struct{ conn *zk.Conn }

const counterPath = "/counter"

func (c insistentCounter) Add(_ context.Context, delta int64) (sum int64, err error) {
	for range attempts {
		if sum, err = c.addOnce(delta); err == nil {
			return sum, nil
		}
	}
	return 0, err // wrong: each may have added it
}

func (c insistentCounter) addOnce(delta int64) (int64, error) {
	data, stat, err := c.conn.Get(counterPath)
	if errors.Is(err, zk.ErrNoNode) {
		_, err = c.conn.Create(counterPath, []byte("0"), 0, acl)
		if err == nil || errors.Is(err, zk.ErrNodeExists) {
			return c.addOnce(delta)
		}
	}
	if err != nil {
		return 0, err
	}
	value, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return 0, err
	}
	_, err = c.conn.Set(counterPath, strconv.AppendInt(nil, value+delta, 10), stat.Version)
	return value + delta, err
}
