package builtin

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// recordedCounter is the recommended counter.
func recordedCounter() scenario.Workload {
	return object.Counter(func(env object.Env) object.Counterer {
		return recipes.NewCounter(env.InTurn(), env.Path)
	}, object.CounterClaims{
		About: "the counter of package recipes, " +
			"which a lost reply neither adds to twice nor never",
		Definite: true,
	}).Named("recipes.Counter")
}

// recordedValue is the recommended shared value.
func recordedValue() scenario.Workload {
	return object.Value(func(env object.Env) object.Valuer {
		return SharedValue{recipes.NewSharedValue(env.InTurn(), env.Path)}
	}, object.ValueClaims{
		About: "the shared value of package recipes, " +
			"which knows its own write when the reply is lost",
		Definite: true,
	}).Named("recipes.SharedValue")
}

// blockIDs is the recommended generator.
func blockIDs() scenario.Workload {
	return object.IDGenerator(func(env object.Env) object.IDSource {
		return recipes.NewIDGenerator(env.InTurn(), env.Path, 2)
	}, object.IDClaims{
		About: "the generator of package recipes, with blocks of two numbers",
	}).Named("recipes.IDGenerator")
}

// SharedValue is a shared value of package recipes as an [object.Valuer].
type SharedValue struct{ *recipes.SharedValue }

// Get reads the value.
func (v SharedValue) Get(ctx context.Context) (object.ValueState, error) {
	state, err := v.SharedValue.Get(ctx)
	return object.ValueState(state), err
}

// Set writes the value.
func (v SharedValue) Set(ctx context.Context, data []byte) (object.ValueState, error) {
	state, err := v.SharedValue.Set(ctx, data)
	return object.ValueState(state), err
}

// CompareAndSet writes the value if it is as it was seen.
func (v SharedValue) CompareAndSet(
	ctx context.Context, seen object.ValueState, data []byte,
) (object.ValueState, bool, error) {
	state, done, err := v.SharedValue.CompareAndSet(ctx, recipes.ValueState(seen), data)
	return object.ValueState(state), done, err
}

// Next waits for another state.
func (v SharedValue) Next(
	ctx context.Context, seen object.ValueState,
) (object.ValueState, error) {
	state, err := v.SharedValue.Next(ctx, recipes.ValueState(seen))
	return object.ValueState(state), err
}
