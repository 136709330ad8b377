package gallery

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

var publishedValue = []Exhibit{
	{Slug: "version-zero-ignored", Alias: "B71", Title: "version 0 is not newer than nothing",
		Source: Report, Link: "https://github.com/apache/curator/pull/153",
		Bug: "A shared value takes over a state that it reads if the version is above the last " +
			"one, which is 0 to begin with. A fresh node has version 0: its value is not seen " +
			"until the next write.",
		Property: linearizable, Wrong: valueOf(value{slow: true})}, // wrong: the first version is 0
	{Slug: "create-error-dropped", Title: "the error of a create is dropped",
		Source: Code, Link: "https://github.com/kvtools/zookeeper/blob/b1635d5ab12ed2fa8238570bb61dc4db6a327f97/zookeeper.go#L158-L163",
		Bug: "Put makes the node if there is none, drops the error of that, and returns without " +
			"one. If another client has made the node meanwhile, or the connection breaks, the " +
			"caller's value is nowhere.",
		Property: linearizable,
		Wrong:    valueOf(value{trustsCreate: true})}, // wrong: it may have failed
}

var plantedValues = []Exhibit{
	planted("compares data and not versions", linearizable, valueOf(value{byData: true})),
	planted("takes equal data for its own", linearizable, valueOf(value{trusts: true})),
	planted("compares nothing", linearizable, valueOf(value{anyVersion: true})),
	planted("writes again when a reply was lost", delivery, valueOf(value{setsAgain: true})),
	planted("takes its own echo for a rival", delivery, valueOf(value{mistakesEcho: true})),
	planted("takes an empty value for none", linearizable, valueOf(value{needsData: true})),
	planted("never looks again", linearizable, valueOf(value{returnsFirst: true})),
}

const valuePath = "/value"

// value is a shared value. It returns every error to its caller, and is right without the flags.
type value struct {
	conn *zk.Conn
	last object.ValueState

	slow         bool // takes over a state only if its version is above the last one
	anyVersion   bool // compares nothing
	setsAgain    bool // writes again when a reply was lost
	mistakesEcho bool // takes the echo of its own write for a rival's
	needsData    bool // takes an empty value for none
	returnsFirst bool // returns the first state that it has seen
	trustsCreate bool // takes each create of a write for done
	byData       bool // compares the data that was seen with the present data
	trusts       bool // takes a refusal for success if the present data is the same

	before func(conn *zk.Conn, path string) error // it reads, for ensembles
}

func valueOf(bad value) scenario.Workload {
	return object.Value(func(env object.Env) object.Valuer {
		v := bad
		v.conn = env.Conn
		return &v
	})
}

func (v *value) Get(context.Context) (object.ValueState, error) {
	if v.returnsFirst && v.last.Exists {
		return v.last, nil
	}
	now, err := v.read()
	if err == nil && (!v.slow || now.Version > v.last.Version) {
		v.last = now
	}
	return v.last, err
}

func (v *value) read() (object.ValueState, error) {
	if v.before != nil {
		if err := v.before(v.conn, valuePath); err != nil {
			return object.ValueState{}, err
		}
	}
	data, stat, err := v.conn.Get(valuePath)
	if err != nil {
		return object.ValueState{}, ignore(err, zk.ErrNoNode)
	}
	exists := len(data) > 0 || !v.needsData
	return object.ValueState{Data: data, Exists: exists, Version: stat.Version}, nil
}

func (v *value) Set(_ context.Context, data []byte) (now object.ValueState, err error) {
	for range attempts {
		now, err = v.setOnce(data, -1)
		if errors.Is(err, zk.ErrNoNode) {
			now, err = v.create(data)
			if v.trustsCreate {
				return now, nil
			}
		}
		if err == nil || !errors.Is(err, zk.ErrNodeExists) && !v.setsAgain {
			break
		}
	}
	return now, err
}

func (v *value) setOnce(data []byte, version int32) (object.ValueState, error) {
	stat, err := v.conn.Set(valuePath, data, version)
	if err != nil {
		return object.ValueState{}, err
	}
	return object.ValueState{Data: data, Exists: true, Version: stat.Version}, nil
}

func (v *value) create(data []byte) (object.ValueState, error) {
	_, err := v.conn.Create(valuePath, data, 0, acl)
	return object.ValueState{Data: data, Exists: true}, err
}

func (v *value) CompareAndSet(ctx context.Context, seen object.ValueState, data []byte) (
	now object.ValueState, done bool, err error,
) {
	if v.byData {
		if now, err = v.read(); err != nil || string(now.Data) != string(seen.Data) {
			return now, false, err
		}
		seen = now
	}
	for range attempts {
		switch {
		case v.anyVersion:
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
			now, err = v.read()
			return now, v.trusts && string(now.Data) == string(data), err
		}
		if !v.mistakesEcho {
			break
		}
	}
	return now, false, err
}
