package gallery

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var publishedValue = []Exhibit{
	{
		Slug: "version-zero-ignored", Alias: "B71",
		Title:  "version 0 is not newer than nothing",
		Source: Report, Link: "https://github.com/apache/curator/pull/153",
		Bug: "A shared value takes over what it reads if the version is above the last one, which " +
			"is 0 to begin with. A fresh node has version 0: its value is not seen until somebody " +
			"writes again.",
		Property: linearizability.Linearizability,
		Wrong: object.Value(func(env object.Env) object.Valuer {
			return &slowValue{value: &value{conn: env.Conn}}
		}).Named(""),
	},
}

var plantedValues = []Exhibit{
	{
		Title: "compares nothing", Property: linearizability.Linearizability,
		Wrong: valueOf(valueDefects{anyVersion: true}),
	},
	{
		Title: "writes again when a reply was lost", Property: linearizability.Delivery,
		Wrong: valueOf(valueDefects{setsAgain: true}),
	},
	{
		Title: "takes its own echo for a rival", Property: linearizability.Delivery,
		Wrong: valueOf(valueDefects{deafCAS: true}),
	},
	{
		Title: "never looks again", Property: linearizability.Linearizability,
		Wrong: valueOf(valueDefects{remembers: true}),
	},
}

const valuePath = "/value"

// value is a shared value that hands every error to its caller, which is right. Each flag
// makes it wrong.
type value struct {
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

func valueOf(bad valueDefects) scenario.Workload {
	return object.Value(func(env object.Env) object.Valuer {
		return &value{conn: env.Conn, bad: bad}
	}).Named("")
}

func (v *value) Get(context.Context) (recipes.ValueState, error) {
	if v.bad.remembers && v.last.Exists {
		return v.last, nil
	}
	data, stat, err := v.conn.Get(valuePath)
	if err != nil {
		return recipes.ValueState{}, gone(err)
	}
	v.last = recipes.ValueState{Data: data, Exists: true, Version: stat.Version}
	return v.last, nil
}

func (v *value) Set(_ context.Context, data []byte) (now recipes.ValueState, err error) {
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

func (v *value) setOnce(data []byte, version int32) (recipes.ValueState, error) {
	stat, err := v.conn.Set(valuePath, data, version)
	if err != nil {
		return recipes.ValueState{}, err
	}
	return recipes.ValueState{Data: data, Exists: true, Version: stat.Version}, nil
}

func (v *value) create(data []byte) (recipes.ValueState, error) {
	_, err := v.conn.Create(valuePath, data, 0, acl)
	return recipes.ValueState{Data: data, Exists: true}, err
}

func (v *value) CompareAndSet(ctx context.Context, seen recipes.ValueState, data []byte) (
	now recipes.ValueState, done bool, err error,
) {
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

// slowValue is a value that remembers the newest state it has seen.
type slowValue struct {
	*value
	last recipes.ValueState
}

func (v *slowValue) Get(ctx context.Context) (recipes.ValueState, error) {
	now, err := v.value.Get(ctx)
	if err == nil && now.Version > v.last.Version { // wrong: the first one is 0
		v.last = now
	}
	return v.last, err
}
