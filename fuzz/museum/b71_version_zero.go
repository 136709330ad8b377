package museum

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func versionZero() Exhibit {
	return Exhibit{
		ID: "B71", Title: "version 0 is not newer than nothing",
		Report: "https://github.com/apache/curator/issues/849",
		Bug: "A shared value takes over what it reads if the version is above the last one, which is 0 to begin with. A fresh " +
			"node has version 0: its value is not seen until somebody writes again.",
		Property: linearizability.Linearizability,
		Wrong: object.Value(func(env object.Env) object.Valuer {
			return &slowValue{SharedValue: recipes.NewSharedValue(env.Conn, valuePath)}
		}).Named(""),
		Right: builtIn("value", "recipes.SharedValue"),
	}
}

// slowValue is a shared value that remembers the newest state it has seen.
type slowValue struct {
	*recipes.SharedValue
	last recipes.ValueState
}

func (v *slowValue) Get(ctx context.Context) (recipes.ValueState, error) {
	now, err := v.SharedValue.Get(ctx)
	if err == nil && now.Version > v.last.Version { // wrong: the first one is 0
		v.last = now
	}
	return v.last, err
}

const valuePath = "/value"
