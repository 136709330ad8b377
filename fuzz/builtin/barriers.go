package builtin

import (
	"time"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

func fixedBarrier() scenario.Workload {
	return object.Barrier(func(env object.Env) object.Barrierer {
		return recipes.NewBarrier(env.InTurn(), env.Path)
	}, object.BarrierClaims{
		About: "the barrier of package recipes", AllPass: true,
	}).Named("recipes.Barrier")
}

func doubleBarrier() scenario.Workload {
	return object.DoubleBarrier(func(env object.Env) object.DoubleBarrierer {
		return recipes.NewDoubleBarrier(env.Conn, env.Path, env.Size,
			recipes.RecheckEvery(barrierRecheck))
	}, object.BarrierClaims{
		About: "the double barrier of package recipes",
	}).Named("recipes.DoubleBarrier")
}

func thresholdBarrier() scenario.Workload {
	return object.ThresholdBarrier(func(env object.Env) object.ThresholdBarrierer {
		return recipes.NewThresholdBarrier(env.Conn, env.Path, recipes.RecheckEvery(barrierRecheck))
	}, object.BarrierClaims{
		About: "the threshold barrier of package recipes",
	}).Named("recipes.ThresholdBarrier")
}

// barrierRecheck is how often the barriers of package recipes read again in these workloads, well
// within the patience of a member. Recheck says why they must.
const barrierRecheck = 10 * time.Second
