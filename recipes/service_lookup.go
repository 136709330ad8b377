package recipes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// ErrNoInstance says that a service has no instance.
var ErrNoInstance = errors.New("the service has no instance")

// Strategy chooses one of the instances of a service. It gets all instances that are not to be
// avoided, sorted by ID, and at least one. It need not be safe for use by several goroutines at
// once.
type Strategy interface {
	Choose(instances []Instance) Instance
}

// strategyFunc is a strategy made of its only method.
type strategyFunc func([]Instance) Instance

func (f strategyFunc) Choose(instances []Instance) Instance { return f(instances) }

// Random chooses an instance at random. intN returns a number in [0,n), as rand.IntN of
// math/rand/v2 does.
func Random(intN func(n int) int) Strategy {
	return strategyFunc(func(instances []Instance) Instance {
		return instances[intN(len(instances))]
	})
}

// RoundRobin chooses the instances in turn, in the order of their IDs. Instances that come and go
// do not disturb the turns of the others.
func RoundRobin() Strategy {
	last := ""
	return strategyFunc(func(instances []Instance) Instance {
		next := slices.IndexFunc(instances, func(i Instance) bool { return i.ID > last })
		chosen := instances[max(next, 0)]
		last = chosen.ID
		return chosen
	})
}

// Sticky chooses once with first, and then keeps to that instance for as long as it is offered. An
// instance is identified by its ID, so one that was gone between two choices is still the same.
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

// ServiceLookup chooses instances of one service by a strategy. Several goroutines may use it.
//
// It guarantees: Next returns an instance of the present view of the ServiceRegistry, with its
// present data. It sends nothing once there is a view. After NoteError Next skips the instance for
// the given time, unless all others are avoided, too, or the instance is registered anew. A
// ServiceLookup cannot guarantee more than the view. It needs no Close. It ends with the registry.
//
// Sources: Curator's ServiceProvider with its RandomStrategy, RoundRobinStrategy and
// StickyStrategy, and its noteError and DownInstancePolicy.
type ServiceLookup struct {
	registry *ServiceRegistry
	service  string

	mu       sync.Mutex
	strategy Strategy
	avoided  map[registered]time.Time // the end of the avoidance
}

// registered is one registration of an instance.
type registered struct {
	id    string
	czxid int64
}

// NewServiceLookup makes a lookup of a service. A strategy remembers its choices, so give each
// lookup its own.
func NewServiceLookup(registry *ServiceRegistry, service string, strategy Strategy) *ServiceLookup {
	return &ServiceLookup{
		registry: registry, service: service, strategy: strategy,
		avoided: map[registered]time.Time{},
	}
}

// Next returns the instance to use next. It waits for the first view; later calls return at once.
// The error wraps ErrNoInstance if the service has none.
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
	return l.strategy.Choose(l.reachable(instances)), nil
}

// NoteError reports that an instance that was returned by Next could not be reached. Next skips the
// instance from now on for the duration avoid. A later call for the same instance replaces this
// one. With zero or less Next no longer skips the instance.
func (l *ServiceLookup) NoteError(i Instance, avoid time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.avoided[registered{i.ID, i.Czxid}] = time.Now().Add(avoid)
}

// reachable returns the instances that are not to be avoided, or all instances if none is left. It
// drops entries that are no longer needed. The caller has locked mu.
func (l *ServiceLookup) reachable(instances []Instance) []Instance {
	now := time.Now()
	there := map[registered]bool{}
	var good []Instance
	for _, i := range instances {
		r := registered{i.ID, i.Czxid}
		if there[r] = true; !now.Before(l.avoided[r]) {
			good = append(good, i)
		}
	}
	maps.DeleteFunc(l.avoided, func(r registered, until time.Time) bool {
		return !there[r] || !now.Before(until)
	})
	if good == nil {
		return instances
	}
	return good
}
