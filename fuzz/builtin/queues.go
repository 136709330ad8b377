package builtin

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
)

// fifoQueue is the recommended queue.
func fifoQueue() scenario.Workload {
	return object.Queue(func(env object.Env) object.Queuer {
		return recipes.NewQueue(env.InTurn(), env.Path)
	}, claimsOfOurs(
		"the FIFO queue of package recipes, exactly-once removal",
	)).Named("recipes.Queue")
}

func apacheQueue() scenario.Workload {
	w := object.Queue(func(env object.Env) object.Queuer {
		return classic.NewApacheQueue(env.InTurn(), env.Path, zk.WorldACL(zk.PermAll))
	}, object.QueueClaims{
		About: "the plain get-then-delete queue of the Apache recipes",
	}).Named("recipes.ApacheQueue")
	w.Flawed = linearizability.Delivery
	return w
}

// priorityQueue is the recommended priority queue.
func priorityQueue() scenario.Workload {
	return object.PriorityQueue(func(env object.Env) object.PriorityQueuer {
		return recipes.NewPriorityQueue(env.InTurn(), env.Path)
	}, claimsOfOurs(
		"the priority queue of package recipes, exactly-once removal",
	)).Named("recipes.PriorityQueue")
}

// delayQueue is the recommended delay queue.
func delayQueue() scenario.Workload {
	return object.DelayQueue(func(env object.Env) object.DelayQueuer {
		return recipes.NewDelayQueue(env.InTurn(), env.Path)
	}, claimsOfOurs(
		"the delay queue of package recipes, exactly-once removal",
	)).Named("recipes.DelayQueue")
}

// idQueue is the recommended queue for work that may be cancelled.
func idQueue() scenario.Workload {
	return object.IDQueue(func(env object.Env) object.IDQueuer {
		return recipes.NewIDQueue(env.InTurn(), env.Path)
	}, claimsOfOurs(
		"the queue with ids of package recipes, exactly-once removal",
	)).Named("recipes.IDQueue")
}

// lockQueue is the recommended queue for elements that must not be lost with their consumers.
func lockQueue() scenario.Workload {
	return object.LockQueue(func(env object.Env) object.LockQueuer {
		return redelivering{recipes.NewLockQueue(env.InTurn(), env.Path)}
	}, object.LockQueueClaims{QueueClaims: object.QueueClaims{
		About: "the queue of package recipes that redelivers, at least once",
		Items: "/queue/items", LeavesAtRest: []string{"/queue/dedup"},
	}}).Named("recipes.LockQueue")
}

// redelivering is a recipes.LockQueue as a LockQueuer.
type redelivering struct{ *recipes.LockQueue }

func (q redelivering) Take(ctx context.Context) (object.Delivery, error) {
	d, err := q.LockQueue.Take(ctx)
	return delivery{d}, err
}

func (q redelivering) Poll(ctx context.Context) (object.Delivery, bool, error) {
	d, ok, err := q.LockQueue.Poll(ctx)
	return delivery{d}, ok, err
}

type delivery struct{ *recipes.Delivery }

func (d delivery) Ack(ctx context.Context) error {
	err := d.Delivery.Ack(ctx)
	if errors.Is(err, recipes.ErrDeliveryLost) {
		return meaning{err, object.ErrFinal}
	}
	return err
}

// claimsOfOurs are the claims of those queues of package recipes that remove by claims.
func claimsOfOurs(about string) object.QueueClaims {
	return object.QueueClaims{About: about, Items: "/queue/items",
		LeavesAtRest: []string{"/queue/claims", "/queue/dedup"}}
}
