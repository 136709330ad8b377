package builtin_test

import (
	"testing"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// below is the connection of a client, with Env.Path as its root.
func below(env object.Env) recipes.Conn { return recipes.Chroot(env.InTurn(), env.Path) }

// TestRecipesSurviveBelowAChroot: recipes keep their promises on a Chroot under random plans, and
// two runs are equal. The lock survives every single fault, too; with -full, so do the other
// recipes.
func TestRecipesSurviveBelowAChroot(t *testing.T) {
	for name, w := range map[string]scenario.Workload{
		"lock": object.Lock(func(env object.Env) object.Locker {
			return recipes.NewLock(below(env), "/")
		}, object.LockClaims{Fair: true, MaxHerd: 1}).Named("recipes.Lock below a Chroot"),
		"queue": object.Queue(func(env object.Env) object.Queuer {
			return recipes.NewQueue(below(env), "/")
		}, object.QueueClaims{
			Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
		}),
		"counter": object.Counter(func(env object.Env) object.Counterer {
			return recipes.NewCounter(below(env), "/")
		}, object.CounterClaims{Definite: true}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			survives(t, w)
		})
	}
}
