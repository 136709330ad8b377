package object_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// racyCounter is a counter with a bug: its write ignores the version that it read.
type racyCounter struct {
	conn *zk.Conn
	path string
}

func (c racyCounter) Add(_ context.Context, delta int64) (int64, error) {
	data, _, err := c.conn.Get(c.path)
	if errors.Is(err, zk.ErrNoNode) {
		sum := strconv.FormatInt(delta, 10)
		_, err = c.conn.Create(c.path, []byte(sum), 0, zk.WorldACL(zk.PermAll))
		return delta, err
	}
	if err != nil {
		return 0, err
	}
	value, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return 0, err
	}
	_, err = c.conn.Set(c.path, []byte(strconv.FormatInt(value+delta, 10)), -1)
	return value + delta, err
}

// Two clients lose an addition when they read the same value. No fault is needed.
func Example() {
	w := object.Counter(func(env object.Env) object.Counterer {
		return racyCounter{env.Conn, env.Path}
	}).Named("mine")
	script := scenario.Script{Clients: 3, Rounds: 2}
	o, err := scenario.Scenario{Workload: w, Script: script, Seed: 1}.Run()
	if err != nil {
		panic(err)
	}
	fmt.Println(o.Status(), o.Property())
	// Output: violated linearizability
}
