package fuzz_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// casCounter is the compare-and-set counter that hands every error to its caller,
// with one defect more for each flag.
type casCounter struct {
	conn *zk.Conn
	bad  counterDefects
}

type counterDefects struct {
	anyVersion bool // sets whatever the version is
	addsAgain  bool // begins anew when a reply was lost
	optimist   bool // takes what was lost for done
	pessimist  bool // takes what was lost for not done
	remembers  bool // tells the value that it has seen first
}

func (c *casCounter) Add(_ context.Context, delta int64) (sum int64, err error) {
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

func (c *casCounter) addOnce(delta int64) (int64, error) {
	data, stat, err := c.conn.Get("/counter")
	if errors.Is(err, zk.ErrNoNode) {
		_, err = c.conn.Create("/counter", strconv.AppendInt(nil, delta, 10), 0, openACL)
		return delta, err
	}
	if err != nil {
		return 0, err
	}
	value, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return 0, err
	}
	version := stat.Version
	if c.bad.anyVersion {
		version = -1
	}
	_, err = c.conn.Set("/counter", strconv.AppendInt(nil, value+delta, 10), version)
	return value + delta, err
}

// forgetful is a casCounter that looks once only.
type forgetful struct {
	*casCounter
	value int64
	known bool
}

func (c *forgetful) Get(context.Context) (int64, error) {
	if c.known {
		return c.value, nil
	}
	data, _, err := c.conn.Get("/counter")
	if errors.Is(err, zk.ErrNoNode) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	c.value, err = strconv.ParseInt(string(data), 10, 64)
	c.known = err == nil
	return c.value, err
}

func mutantCounter(bad counterDefects) scenario.Workload {
	claims := object.CounterClaims{Definite: bad.pessimist}
	return object.Counter(func(env object.Env) object.Counterer {
		counter := &casCounter{env.Conn, bad}
		if bad.remembers {
			return &forgetful{casCounter: counter}
		}
		return counter
	}, claims).Named("mutant")
}

func TestMutantCountersAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about    string
		bad      counterDefects
		property string
	}{
		{"sets whatever the version is", counterDefects{anyVersion: true}, linearizability.Delivery},
		{"adds again when a reply was lost", counterDefects{addsAgain: true}, linearizability.Delivery},
		{"takes what was lost for done", counterDefects{optimist: true}, linearizability.Delivery},
		{"takes what was lost for not done", counterDefects{pessimist: true}, linearizability.Delivery},
		{"never looks again", counterDefects{remembers: true}, linearizability.Linearizability},
	} {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, mutantCounter(m.bad), m.property) })
	}
}

// TestSameCounterWithoutDefectSurvives is the control.
func TestSameCounterWithoutDefectSurvives(t *testing.T) { survives(t, mutantCounter(counterDefects{})) }

func TestCounterElsewhereIsToldFromABrokenOne(t *testing.T) {
	w := object.Counter(func(env object.Env) object.Counterer { return &casCounter{conn: env.Conn} }, object.CounterClaims{Path: "/other"}).Named("elsewhere")
	if _, err := (scenario.Scenario{Workload: w, Script: scenario.DefaultScript, Seed: 1}).Run(); !errors.Is(err, scenario.ErrClaims) {
		t.Error(err)
	}
}
