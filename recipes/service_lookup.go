package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrNoInstance says that a service has no instance.
var ErrNoInstance = errors.New("the service has no instance")

// Strategy chooses one of the instances of a service. It is given all of them,
// sorted by ID, and at least one. It may be used by one goroutine at a time.
type Strategy interface {
	Choose(instances []Instance) Instance
}

// strategyFunc is a strategy made of its only method.
type strategyFunc func([]Instance) Instance

func (f strategyFunc) Choose(instances []Instance) Instance { return f(instances) }

// Random chooses any instance. intN draws a number from 0 up to n, n excluded, such
// as rand.IntN of math/rand/v2.
func Random(intN func(n int) int) Strategy {
	return strategyFunc(func(instances []Instance) Instance { return instances[intN(len(instances))] })
}

// RoundRobin chooses one after the other, in the order of their IDs. Instances
// that come and go do not disturb the turns of the others.
func RoundRobin() Strategy {
	last := ""
	return strategyFunc(func(instances []Instance) Instance {
		next := slices.IndexFunc(instances, func(i Instance) bool { return i.ID > last })
		chosen := instances[max(next, 0)]
		last = chosen.ID
		return chosen
	})
}

// Sticky chooses as first does, and then the same instance for as long as it is
// there. One that was gone and has come back unseen is the same.
func Sticky(first Strategy) Strategy {
	id := ""
	return strategyFunc(func(instances []Instance) Instance {
		if at := slices.IndexFunc(instances, func(i Instance) bool { return i.ID == id }); at >= 0 {
			return instances[at]
		}
		chosen := first.Choose(instances)
		id = chosen.ID
		return chosen
	})
}

// ServiceLookup hands out instances of one service by a strategy. Several
// goroutines may use it.
//
// What it promises: Next returns an instance of the present view of the
// ServiceRegistry, with its present data, and nothing else. It sends nothing once
// there is a view. What the view cannot promise, it cannot either. It needs no
// Close, and ends with the registry's.
//
// Sources: Curator's ServiceProvider with its RandomStrategy, RoundRobinStrategy
// and StickyStrategy.
type ServiceLookup struct {
	registry *ServiceRegistry
	service  string

	mu       sync.Mutex
	strategy Strategy
}

// NewServiceLookup makes a lookup of a service. A strategy remembers what it has
// chosen, so give each lookup one of its own.
func NewServiceLookup(registry *ServiceRegistry, service string, strategy Strategy) *ServiceLookup {
	return &ServiceLookup{registry: registry, service: service, strategy: strategy}
}

// Next returns the instance to use next. It waits for the first view; later calls
// return at once. The error wraps ErrNoInstance if the service has none.
func (l *ServiceLookup) Next(ctx context.Context) (Instance, error) {
	instances, err := l.registry.Instances(ctx, l.service)
	if err != nil {
		return Instance{}, err
	}
	if len(instances) == 0 {
		return Instance{}, fmt.Errorf("look up %s: %w", l.service, ErrNoInstance)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.strategy.Choose(instances), nil
}
