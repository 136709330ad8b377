package fuzz_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// plainValue is a shared value that hands every error to its caller, with one
// defect more for each flag.
type plainValue struct {
	conn *zk.Conn
	bad  valueDefects
	last recipes.ValueState
}

type valueDefects struct {
	anyVersion bool // compares nothing
	setsAgain  bool // writes again when a reply was lost
	deafCAS    bool // takes the echo of its own write for a rival's
	remembers  bool // tells what it has seen first
}

func (v *plainValue) Get(context.Context) (recipes.ValueState, error) {
	if v.bad.remembers && v.last.Exists {
		return v.last, nil
	}
	data, stat, err := v.conn.Get("/value")
	if errors.Is(err, zk.ErrNoNode) {
		return recipes.ValueState{}, nil
	}
	if err == nil {
		v.last = recipes.ValueState{Data: data, Exists: true, Version: stat.Version}
	}
	return v.last, err
}

func (v *plainValue) Set(ctx context.Context, data []byte) (now recipes.ValueState, err error) {
	for range attempts {
		now, err = v.setOnce(data, -1)
		if errors.Is(err, zk.ErrNoNode) {
			now, err = v.create(data)
		}
		if err == nil || !errors.Is(err, zk.ErrNodeExists) && !v.bad.setsAgain {
			break
		}
	}
	return now, err
}

func (v *plainValue) setOnce(data []byte, version int32) (recipes.ValueState, error) {
	stat, err := v.conn.Set("/value", data, version)
	if err != nil {
		return recipes.ValueState{}, err
	}
	return recipes.ValueState{Data: data, Exists: true, Version: stat.Version}, nil
}

func (v *plainValue) create(data []byte) (recipes.ValueState, error) {
	_, err := v.conn.Create("/value", data, 0, openACL)
	return recipes.ValueState{Data: data, Exists: true}, err
}

func (v *plainValue) CompareAndSet(ctx context.Context, seen recipes.ValueState, data []byte) (now recipes.ValueState, done bool, err error) {
	for range attempts {
		switch {
		case v.bad.anyVersion:
			now, err = v.Set(ctx, data)
		case seen.Exists:
			now, err = v.setOnce(data, seen.Version)
		default:
			now, err = v.create(data)
		}
		if err == nil {
			return now, true, nil
		}
		if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNodeExists) {
			now, err = v.Get(ctx)
			return now, false, err
		}
		if !v.bad.deafCAS {
			break
		}
	}
	return now, false, err
}

func mutantValue(bad valueDefects) scenario.Workload {
	return object.Value(func(env object.Env) object.Valuer { return &plainValue{conn: env.Conn, bad: bad} }).Named("mutant")
}

func TestMutantValuesAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about    string
		bad      valueDefects
		property string
	}{
		{"compares nothing", valueDefects{anyVersion: true}, linearizability.Linearizability},
		{"writes again when a reply was lost", valueDefects{setsAgain: true}, linearizability.Delivery},
		{"takes its own echo for a rival", valueDefects{deafCAS: true}, linearizability.Delivery},
		{"never looks again", valueDefects{remembers: true}, linearizability.Linearizability},
	} {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, mutantValue(m.bad), m.property) })
	}
}

// TestSameValueWithoutDefectSurvives is the control.
func TestSameValueWithoutDefectSurvives(t *testing.T) { survives(t, mutantValue(valueDefects{})) }

func TestValueElsewhereIsToldFromABrokenOne(t *testing.T) {
	w := object.Value(func(env object.Env) object.Valuer { return &plainValue{conn: env.Conn} }, object.ValueClaims{Path: "/other"}).Named("elsewhere")
	if _, err := (scenario.Scenario{Workload: w, Script: scenario.DefaultScript, Seed: 1}).Run(); !errors.Is(err, scenario.ErrClaims) {
		t.Error(err)
	}
}
