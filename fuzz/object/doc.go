// Package object makes workloads for the usual objects of coordination: locks, queues, elections,
// barriers, counters, caches and more. A workload is a script for several clients and a judge. The
// tests of package fuzz run it.
//
// # A test of an object
//
// An object is the code under test, made by one client on its connection. Two clients that make a
// lock at the same path have two objects, and compete for one lock. A test passes a function that
// makes the object:
//
//	func TestMyLock(t *testing.T) {
//		fuzz.Test(t, object.Lock(func(env object.Env) object.Locker {
//			return mylock.New(env.Conn, env.Path)
//		}))
//	}
//
// [Env] holds the client's connection, its session events, the path of the object, and a name that
// no other client has. Make the object at the path of Env: the judge looks there. An object that
// several goroutines of a client may share must send its requests through [Env.InTurn] and not
// through Env.Conn; otherwise two runs of a scenario can differ. Then a hunt has such goroutines in
// some scenarios, if the kind is a queue, semaphore, barrier, counter, value or generator of ids.
// With locks, each of these goroutines opens a lock of its own on the client's connection, be it
// Env.Conn or InTurn, and these locks must exclude each other; see [LockClaims.Handles].
//
// # The kinds
//
// Each kind has a function that makes its workload, and an interface for the object. The methods in
// the last column are optional: an object that has them is tested with them.
//
//	function          object              path           also tested
//	Lock              Locker              /lock          TryLocker, Lost, Token, Close
//	BlockingLock      BlockingLocker      /lock
//	StoppableLock     StoppableLocker     /lock
//	Reentrant         Locker              /reentrant     TryLocker, Lost, Token, Close
//	Revocable         RevocableLocker     /revocable     Lost, Token, Close
//	MultiLock         Locker              /multilock     TryLocker, Lost, Token, Close
//	RWLock            RWLocker            /rwlock        TryLock, TryRLock, Lost, RLost, Token,
//	                                                     RToken, Close
//	Semaphore         Acquirer            /semaphore     AcquireN, TryAcquire, Close, Lost
//	TurnQueue         Locker              /queue         TryLocker, Lost, Token, Close
//	Queue             Queuer              /queue         Poller, Peeker, Close
//	PriorityQueue     PriorityQueuer      /queue         Poller, Peeker, Close
//	DelayQueue        DelayQueuer         /queue         Poller, Peeker, Close
//	IDQueue           IDQueuer            /queue         Poller, Peeker, Close
//	LockQueue         LockQueuer          /queue         DeliveryPoller, Close
//	Election          Elector             /election      Lost, Token, Leader
//	Barrier           Barrierer           /barriers/b    IsSet, Close
//	DoubleBarrier     DoubleBarrierer     /double
//	ThresholdBarrier  ThresholdBarrierer  /thresholds/t
//	TwoPhase          TwoPhaser           /transactions  TwoPhaseJoiner, TwoPhaseFinisher
//	Counter           Counterer           /counter       Getter, Close
//	Value             Valuer              /value         Awaiter, Close
//	IDGenerator       IDSource            /ids           Close
//	Cache             Cacher              /cache         Eventer
//	Config            Configurer          /config/keys   Eventer
//	Membership        Roster              /members       Updater, Picker, Close
//	Discovery         Registrar           /members
//
// # Errors
//
// After a lost connection a call may return an error although it has taken effect. That is usual,
// and no violation. The comment of each interface has the promises of its errors. Scripts know few
// meanings: those of [ErrAmbiguous], [ErrFinal] and [ErrNoTransaction], the error of a call's own
// context and, for a configuration centre, the refusals of the go-zookeeper client. Code under test
// that has errors of its own needs no import for that: its adapter wraps the errors of this
// package.
//
// # Claims
//
// Each function takes claims as an optional last argument: [LockClaims], [QueueClaims] and so on.
// Claims are promises of the object beyond those of its kind, and the places of its znodes. The
// zero values claim mutual exclusion for a lock, and FIFO order with exactly-once delivery for a
// queue. The usual fields are:
//
//   - Path is the znode or the directory of the object, if it is not the one of the table. The Path
//     of Env is the same.
//   - LeavesAtRest are patterns of znodes that may stay behind when all clients are done.
//   - ClosesSession of a lock: an unlock closes the session of its hold, which may end later.
//   - TTL of a lock: the holder's znode is a TTL node that it renews, and no ephemeral.
//   - Fair and MaxHerd of a lock: waiters are served in order, and a release wakes at most that
//     number of clients.
//   - MayLose, MayDuplicate and Unordered of a queue: weaker promises.
//   - StaleReads: what a call reads may be the answer of a server that lags behind, as that to any
//     read of ZooKeeper. It is no older than what the client itself has done and read before.
//     Without the claim it is the state at some moment of the call, for which recipes send a sync
//     or a write first. One scenario in eight has three servers, and tells. The claim allows
//     nothing in the others: one server lags behind nobody. Counters, values, barriers, queues,
//     elections, configuration centres and two-phase commits have this claim. Caches and the views
//     of members need none: they may lag. But Join, Update and Leave may not rest on an old read.
//   - MayOvertake of a priority or delay queue: a take may pass over elements that are offered
//     meanwhile, and after the one that it takes.
//   - ComesBack of a queue with locks: deliveries have no locks, and end by themselves after a
//     time.
//   - Definite of a counter or a value: an error that is not ambiguous promises that nothing was
//     written.
//
// Watches, goroutines and sessions that are left when all clients are done are orphans, unless
// Keeps of the workload allows them. In half of the runs the clients close an object with a Close
// when their scripts have ended; in the other half its watches do not count. Context of Env is done
// when the script of the client has ended.
//
// If the calls of an object succeed in a run without faults, but write nothing at Env.Path, there
// is no verdict. The run ends with an error that names Env.Path and the path that was written.
//
// # What the clients do
//
// A client repeats its turn for the number of rounds of the [scenario.Script]. After an error it
// waits 100 ms and tries again, unless the comment of the kind says otherwise. A release, such as
// Unlock or Resign, is tried three times, and once more for each fault of the run; attempts that
// find no server do not count. Sessions have a timeout of 4 s.
//
// Some runs differ from the others, by their seeds. In one of eight all clients are idle for
// minutes between two rounds, so that empty containers are removed. In one of eight a client holds
// its object for minutes. In one of three each name of an owner, member, key or node is a prefix of
// another. In one of eight the elements of queues, the values, the settings and the cached nodes
// are long, up to 32 KB, and differ in their last bytes only: a trace shows "a1~4096" for 4096
// bytes that end in a1. In one run of six for each client its first value, setting, cached node or
// instance has no bytes.
//
// A client of a lock locks, holds the lock for 5 to 45 ms, in one of eight rounds for longer than a
// session lives, and unlocks. One Lock in six has a context of 10 to 110 ms, and in one round of
// six TryLock comes first, if there is one. In half of the rounds the token is read once more
// before Unlock: it must be the same. In one of three elections the last client only asks for the
// leader, again and again.
//
// One cache in three is opened on a tree that its client has made, and one in three is closed
// half-way and opened again. One configuration centre in three is opened late, when others have
// written, and one in three is closed half-way and opened again. One member in four opens its group
// late, and one in three opens it again.
//
// A client of a queue offers one element and takes one in each round. With several clients the
// first client only offers and the second client only takes, two elements a round. A client
// whose last call of a kind has failed repeats it at the end. Some takes are polls, some follow a
// peek, and some have a context of a few milliseconds at first. In queues of other kinds the
// elements have priorities, are due within three seconds, are discarded by their ids, or are held
// like a lock until the client acknowledges them or, one time in five, gives them back.
//
// The comment of each function of the table describes the clients of its kind.
//
// # An object of another kind
//
// An object that fits no kind needs a [scenario.Workload] with a script and a judge; see package
// scenario. The workloads of this package are built of the same exported parts: [scenario.Shared]
// opens the object, [scenario.Player] draws and records, and package linearizability judges.
//
// # Built-in workloads
//
// Package builtin has the workloads of package recipes. The zksim command and scenario files use
// them by name.
package object
