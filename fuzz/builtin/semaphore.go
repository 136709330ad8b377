package builtin

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// leaseSemaphore is the recommended semaphore.
func leaseSemaphore() scenario.Workload {
	return object.Semaphore(func(env object.Env) object.Acquirer {
		return semaphoreAdapter{recipes.NewSemaphore(env.InTurn(), env.Path, 2)}
	}, object.SemaphoreClaims{
		LockClaims: object.LockClaims{
			About: "the semaphore of package recipes", Fair: true, MaxHerd: 2,
			LeavesAtRest: []string{"/semaphore/leases", "/semaphore/lock"},
		},
		Nodes: "/semaphore/leases",
	}).Named("recipes.Semaphore")
}

// semaphoreAdapter is a semaphore of package recipes as an Acquirer.
type semaphoreAdapter struct{ *recipes.Semaphore }

func (s semaphoreAdapter) Acquire(ctx context.Context) (object.Lease, error) {
	lease, err := s.Semaphore.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return lease, nil
}

func (s semaphoreAdapter) AcquireN(ctx context.Context, n int) ([]object.Lease, error) {
	leases, err := s.Semaphore.AcquireN(ctx, n)
	var all []object.Lease
	for _, l := range leases {
		all = append(all, l)
	}
	return all, err
}

func (s semaphoreAdapter) TryAcquire(ctx context.Context) (object.Lease, bool, error) {
	lease, ok, err := s.Semaphore.TryAcquire(ctx)
	if !ok {
		return nil, false, err
	}
	return lease, true, err
}
