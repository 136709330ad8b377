// Package recipes holds coordination recipes for the go-zookeeper client: locks, queues, elections,
// barriers, counters, caches and registries that keep their promises when connections drop and
// sessions end.
//
//	lock := recipes.NewLock(conn, "/locks/report")
//	err := lock.Do(ctx, func(ctx context.Context, token int64) error {
//		return write(ctx, token) // ctx ends with the hold
//	})
//
// The comment of each type is its contract: the guarantees when a connection is lost or a session
// ends, the limits, the layout of its nodes, and the sources. The recipes run on any *zk.Conn,
// against any ensemble of ZooKeeper 3.5 or later. They use only the exported API of package zk (see
// Conn) and install nothing on the connection: no event callback, no host provider.
//
// # Which recipe to use
//
// Locks:
//
//   - Lock: a fair lock, the one to use.
//   - ReentrantLock: a Lock that its owner may lock again.
//   - RevocableLock: a Lock that others can ask the owner to release.
//   - MultiLock: several Locks at once, without deadlocks.
//   - RWLock: many readers or one writer. Fair.
//   - VersionRWLock: the same, but readers never wait for a writer that waits.
//   - Semaphore: a number of leases, one or several to each holder.
//   - WriteLock: the lock of the Apache recipes. Lock does not block; a listener learns of the
//     grant.
//   - HerdLock: a lock without a directory, for many names with few contenders each.
//   - TurnQueue: a Lock with a visible line of waiters.
//
// Elections:
//
//   - LeaderLatch: leadership as a state, until Close.
//   - LeaderSelector: leadership as a function call, in turns.
//
// Queues:
//
//   - Queue: first in, first out. A lost connection neither loses nor doubles an element.
//   - IDQueue: a Queue from which elements can be removed by an id.
//   - PriorityQueue: a Queue from which the most urgent element leaves first.
//   - DelayQueue: a Queue of elements that can be taken from a given time on.
//   - LockQueue: an element stays until its consumer has acknowledged it. At least once.
//
// Barriers and agreement:
//
//   - Barrier: a gate that holds all waiters back while it is up.
//   - DoubleBarrier: members begin together and end together.
//   - ThresholdBarrier: a gate that opens when enough members are there.
//   - TwoPhaseCommit: all sites carry out a transaction, or none does.
//
// Values:
//
//   - Counter: a number to which each Add adds exactly once.
//   - SharedValue: data with versions, to read, write and wait for.
//   - IDGenerator: numbers that are never handed out twice, in blocks.
//   - NodeCache, ChildrenCache, TreeCache: local copies of nodes, with events.
//   - ConfigCenter: settings by key, read from a local copy and changed at the server.
//
// Presence:
//
//   - PersistentNode: an ephemeral node that is created again after expiry, until it is closed.
//   - Group, GroupMember: the members of a group and their data.
//   - ServiceRegistry, Registration, ServiceLookup: the instances of services, and the choice of
//     one.
//
// Building blocks for your own recipes:
//
//   - CreateProtected: creates a node exactly once, even if the reply is lost.
//   - GuaranteedDelete: deletes a node and repeats until that is confirmed.
//   - EnsurePath: creates a directory, with Containers one that goes when it is empty.
//   - Chroot: a Conn with a path as its root, so that applications share an ensemble.
//   - ConnMonitor: tells whether a session is connected, suspended or lost, without a request.
//   - Sequence, SortBySequence: read and sort the numbers of sequential nodes.
//   - OutcomeOf: tells from an error whether a request was applied.
//
// Package classic has two well-known recipes that break their promises, for study.
//
// # Errors
//
// The outcome of a request is unknown when its connection dies: the server may or may not have
// applied it. OutcomeOf sorts errors of the client into applied, not applied and unknown. The
// recipes find out by themselves and repeat safe requests as long as the context allows. Where they
// have to return before they know, the error wraps ErrAmbiguous, and OutcomeOf returns Unknown for
// it. Any other error of an operation means that the operation was not applied. With the option
// Retry operations give up earlier (ErrGaveUp). An operation does not retry a request that the
// server has refused, for example with zk.ErrNoAuth. Background work does, as the refusal may be
// lifted.
//
// A closed *zk.Conn and a lost connection return the same error, zk.ErrConnectionClosed. The
// recipes take the Conn for closed after more than a second in which requests fail at once and the
// state stays zk.StateDisconnected, which an open Conn only passes through. Then they return
// ErrConnClosed: waiters at once, as the client closes their watches; other calls about 1.3 s after
// the first such failure, and later if the connection was down before and pauses have grown to a
// second.
//
// # Contexts
//
// Requests of the client take no context: while the connection is down they wait inside the client.
// So each operation runs in its own goroutine. When the context is done, the caller returns and the
// goroutine only cleans up: it finishes the request that is under way, sends no other request of
// the operation, removes the nodes of the operation, and ends when the server has confirmed or
// refused the removal or when the Conn is closed. The caller waits up to 100 ms for this, so that
// usually nothing is left on the server when the method returns. Close of each recipe waits for all
// of it. A recipe with work until Close, such as a PersistentNode, continues this work: there a
// context ends only the waiting.
//
// # Conventions
//
//   - Constructors send nothing and start nothing, except NewConnMonitor. Every constructor takes
//     all options; its comment names those that matter.
//   - Start begins work in the background and does not wait. It takes no context and fails only if
//     the recipe is closed. Methods that wait for the server take a context first: Ready waits for
//     the work that Start has begun; Keep, Join and Register start and wait.
//   - Err returns the error of the latest attempt in the background, or nil. Stale reports whether
//     a local view may be out of date.
//   - Do runs a function while something is held. Its context ends with the hold. Lock and Unlock,
//     or Acquire and Release, are for holds that outlive a function.
//   - Try methods do not wait for other clients. They return the result, whether there is one, and
//     an error.
//   - Observe calls a function at waits, grants, releases, losses and retries, for logs and
//     counters.
//   - Slices are copied when they are handed over, and returned slices belong to the caller.
//   - Participants returns the holders and the waiters. A Token, which elections call an epoch, is
//     a fencing token: later holders have greater ones.
//   - Close takes a context, ends everything, and leaves the Conn open.
//
// # Ensembles
//
// A server of an ensemble that lags answers reads with an old state. One that the others cannot
// reach does so until it gives up, after its syncLimit, ten seconds as a rule. Its client cannot
// tell, and is connected all the time.
//
//   - No such read decides who holds something, or what is added or removed. The search for a node
//     whose create lost its reply, and the methods that ask the server (Participants, Leader, Line,
//     Peek, Fetch, IsSet, Get of Counter and SharedValue) synchronise first: their answer is no
//     older than the call.
//   - Views (NodeCache, ChildrenCache, TreeCache, the copy of a ConfigCenter, Group,
//     ServiceRegistry) show what the client's server shows: late by its lag, which has no bound,
//     while Stale is false. They never go back, on another server either. Ask the server for the
//     present state.
//   - A holder can read its own node for some seconds after its session has ended, if its server is
//     cut off. It learns of the end when the server gives up. See Limits for tokens.
//
// # Limits
//
//   - A holder that is paused beyond the end of its session cannot know that. Between the expiry at
//     the server and the closing of Lost two clients may believe that they own a lock. So may they
//     if the server has granted a session timeout that is shorter than SessionTimeout. Pass Token
//     to the resource and let it refuse smaller tokens.
//   - A request larger than the server's jute.maxbuffer (1 MB unless set otherwise) makes the
//     server drop the connection, which looks like any other loss: the operation is repeated until
//     its context is done.
//   - The client cannot take a watch back. The channel of an abandoned wait stays in the client
//     until the watched node changes or the session ends.
//   - A Conn that is closed while its server is silent, or while no server can be dialled, looks
//     open until the client's own loop has ended: two thirds of the session timeout later, or when
//     the host provider has gone through all servers.
//   - The client (v1.0.4) can hang in Close while requests of other goroutines are on their way: it
//     answers one of them three times, into a channel that takes two. Then it ends no watch.
//     Waiters learn that the Conn is closed when they look again, as RecheckEvery says.
//   - Parents are created as persistent nodes and never removed, or with Containers as container
//     nodes, which the server removes when they are empty. Parents that exist are left as they are,
//     and created again if they are removed.
//   - A request waits inside the client while the connection is down. No RetryPolicy ends such a
//     wait, only a context.
//   - A directory has 2147483647 sequence numbers. The counter of servers since 3.6 then stays
//     there (ZOOKEEPER-3249), and the order of children with one number is unknown. Locks,
//     semaphores, elections, CreateProtected and offers to queues remove such a node again and
//     return ErrNumbersUsedUp; elections in the background show it in Err. Owners, waiters and
//     elements with smaller numbers keep their places. Delete the directory when it is empty, and
//     its numbers begin at 0 again; a container node goes by itself. Barriers go on, as their
//     members need no order. Other clients in the same directory may still use nodes of the last
//     number: they wait for owners of this package, which wait for none of them. The numbers that
//     servers before 3.6 give after the last one, -2147483648 and 65535 more, are refused as well.
package recipes
