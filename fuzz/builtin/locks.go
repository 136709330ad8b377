package builtin

import (
	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
)

// fairLock is the recommended lock.
func fairLock() scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker {
		return recipes.NewLock(env.InTurn(), env.Path)
	}, object.LockClaims{
		About: "the fair lock of package recipes", Fair: true, MaxHerd: 1,
	}).Named("recipes.Lock")
}

func herdLock() scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker {
		return classic.NewHerdLock(env.InTurn(), env.Path+"/herd")
	}, object.LockClaims{
		About: "the simple lock that everybody watches",
	}).Named("recipes.HerdLock")
}

func clientLock() scenario.Workload {
	w := object.Lock(func(env object.Env) object.Locker {
		return classic.NewClientLock(env.Conn, env.Path, zk.WorldACL(zk.PermAll))
	}, object.LockClaims{
		About: "the go-zookeeper client's own lock", MaxHerd: 1,
	}).Named("zk.Lock")
	w.Deaf, w.Flawed = true, linearizability.Liveness
	return w
}

// reentrantLock is the recommended re-entrant lock.
func reentrantLock() scenario.Workload {
	return object.Reentrant(func(env object.Env) object.Locker {
		return recipes.NewReentrantLock(env.InTurn(), env.Path)
	}, object.LockClaims{
		About: "the re-entrant lock of package recipes", Fair: true, MaxHerd: 1,
	}).Named("recipes.ReentrantLock")
}

// fairRWLock is the recommended read-write lock.
func fairRWLock() scenario.Workload {
	return object.RWLock(func(env object.Env) object.RWLocker {
		return recipes.NewRWLock(env.InTurn(), env.Path)
	}, object.LockClaims{
		About: "the fair read-write lock of package recipes", Fair: true, MaxHerd: 1,
	}).Named("recipes.RWLock")
}

// versionRWLock is the read-write lock on the version of one node.
func versionRWLock() scenario.Workload {
	return object.RWLock(func(env object.Env) object.RWLocker {
		return classic.NewVersionRWLock(env.InTurn(), env.Path)
	}, object.LockClaims{
		About: "the read-write lock around one node's version",
	}).Named("recipes.VersionRWLock")
}

// orderedMultiLock is the recommended lock on several paths.
func orderedMultiLock() scenario.Workload {
	return object.MultiLock(func(env object.Env) object.Locker {
		lock := recipes.NewMultiLock(env.Conn, env.Paths)
		return multiLock{MultiLock: lock, last: env.Path + "/c"}
	}, object.LockClaims{
		About: "several locks at once, of package recipes", MaxHerd: 1,
	}).Named("recipes.MultiLock")
}

// multiLock is a lock of package recipes with the token of the last path.
type multiLock struct {
	*recipes.MultiLock
	last string // the greatest of the paths
}

func (l multiLock) Token() int64 { return l.MultiLock.Token(l.last) }

// revocableLock is the recommended revocable lock.
func revocableLock() scenario.Workload {
	return object.Revocable(func(env object.Env) object.RevocableLocker {
		return recipes.NewRevocableLock(env.InTurn(), env.Path)
	}, object.LockClaims{
		About: "the revocable lock of package recipes", Fair: true, MaxHerd: 1,
	}).Named("recipes.RevocableLock")
}

// turnQueue is the recommended line.
func turnQueue() scenario.Workload {
	return object.TurnQueue(func(env object.Env) object.Locker {
		return classic.NewTurnQueue(env.InTurn(), env.Path)
	}, object.LockClaims{
		About: "the take-your-turn queue of package recipes", Fair: true, MaxHerd: 1,
	}).Named("recipes.TurnQueue")
}
