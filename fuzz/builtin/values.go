package builtin

import (
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
		return recipes.NewSharedValue(env.InTurn(), env.Path)
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
