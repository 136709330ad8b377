package fuzz

import (
	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes"
)

// TurnQueueWorkload makes a workload of a line in which each member waits for its
// turn: Lock joins it and waits, Unlock leaves it. The members do what those of
// LockWorkload do, and the claims are those of a lock; Fair is the order of the
// line.
func TurnQueueWorkload(impl string, claims LockClaims, open func(*zk.Conn) Locker) Workload {
	w := LockWorkload(impl, claims, open)
	w.Name = "turn-queue"
	return w
}

// TestTurnQueue tests a line of your own as [TestLock] tests a lock: in exactly /lock,
// unless it claims another path, as the built-in line does, which is in /queue.
func TestTurnQueue(t TB, open func(*zk.Conn) Locker, claims ...LockClaims) {
	t.Helper()
	Run(t, TurnQueueWorkload(t.Name(), only(t, claims), open))
}

// turnQueue is the line to use.
func turnQueue() Workload {
	return TurnQueueWorkload("recipes.TurnQueue", LockClaims{
		About: "the take-your-turn queue of package recipes", Path: queuePath, Fair: true, MaxHerd: 1,
	}, func(c *zk.Conn) Locker {
		return recipes.NewTurnQueue(InTurn(c), queuePath, recipes.SessionTimeout(sessionTimeout))
	})
}
