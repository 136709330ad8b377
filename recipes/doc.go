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
//   - ReentrantLock: a Lock that its holder may lock again.
//   - RevocableLock: a Lock with requests to its holder to release it.
//   - MultiLock: several Locks at once, without deadlocks.
//   - RWLock: many readers or one writer. Fair.
//   - Semaphore: a number of leases, one or several to each holder.
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
//   - LockQueue: a Queue that keeps an element until its consumer has acknowledged it. Delivery is
//     at least once.
//
// Barriers and agreement:
//
//   - Barrier: a gate that holds all waiters back while it is up.
//   - DoubleBarrier: members begin together and end together.
//   - ThresholdBarrier: a gate that opens when enough members have come.
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
//   - GuaranteedDelete: deletes a node, and repeats the request until the server has confirmed it.
//   - EnsurePath: creates a directory. With Containers the server removes it when it is empty.
//   - Chroot: a Conn with a path as its root, so that applications share an ensemble.
//   - ConnMonitor: tells whether a session is connected, suspended or lost, without a request.
//   - Sequence, SortBySequence: read and sort the numbers of sequential nodes.
//   - OutcomeOf: tells from an error whether a request was applied.
//
// Package classic has six more: a lock with a listener, one without a directory, one with a visible
// line of waiters, a read-write lock that lets readers pass a waiting writer, and two well-known
// recipes that break their promises, for study.
//
// # Errors
//
// The outcome of a request is unknown when its connection dies: the server may or may not have
// applied it. OutcomeOf sorts errors of the client into applied, not applied and unknown. The
// recipes determine an unknown outcome themselves, and repeat safe requests as long as the context
// allows. If a method has to return before the outcome is known, its error wraps ErrAmbiguous, and
// OutcomeOf returns Unknown for it. Any other error of an operation means that the operation was
// not applied. With the option Retry operations give up earlier (ErrGaveUp). An operation does not
// repeat a request that the server has refused, for example with zk.ErrNoAuth. Background work
// repeats it, as the ACL may change.
//
// A closed *zk.Conn and a lost connection return the same error, zk.ErrConnectionClosed. An open
// Conn leaves the state zk.StateDisconnected soon. The recipes treat a Conn as closed after more
// than a second in this state with requests that fail at once. Then they return ErrConnClosed:
// waiters at once, as the client closes their watches; other calls about 1.3 s after the first such
// failure, and later if the connection was down before and pauses have grown to a second.
//
// # Contexts
//
// Requests of the client take no context: while the connection is down they wait inside the client.
// So each operation runs in its own goroutine. When the context is done, the caller returns and the
// goroutine only cleans up: it finishes the request that is under way, sends no other request of
// the operation, removes the nodes of the operation, and ends when the server has confirmed or
// refused the removal or when the Conn is closed. The caller waits up to 100 ms for this goroutine,
// so usually no node is left on the server when the method returns. Close of each recipe waits for
// the end of all clean-up. A recipe that works until Close, such as a PersistentNode, continues its
// work when a context is done: the context ends only the wait of the caller.
//
// # Conventions
//
//   - Constructors send nothing. Only NewConnMonitor starts a goroutine. A constructor with options
//     accepts all of them; its comment names those that have an effect.
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
// A server that lags behind its ensemble answers reads with an old state. A server that is cut off
// from the others does so until it gives up, after its syncLimit: ten seconds as a rule. Its client
// stays connected and cannot notice this.
//
//   - No recipe decides about ownership, an addition or a removal by such a read. The search for a
//     node after a lost reply to its creation, and the methods that ask the server (Participants,
//     Leader, Peek, Fetch, IsSet, Get of Counter and SharedValue) send a write that changes nothing
//     first: the check of a node in a transaction of its own, which a majority stores. So their
//     answers are no older than the call. A sync is not enough for that: a leader that was paused
//     or cut off while the others have elected another one answers it from its own state, for about
//     a tickTime. SyncOnly chooses it all the same. A node that is missing, or that the client may
//     not read, does as well.
//   - Views (NodeCache, ChildrenCache, TreeCache, the copy of a ConfigCenter, Group,
//     ServiceRegistry) show the state of the client's server. That state can be arbitrarily old
//     while Stale is false. A view never goes back to an older state, even if the client moves to
//     another server. Ask the server for the present state. In a new session a view begins with a
//     sync.
//   - A holder whose server is cut off can read its own node for some seconds after the session has
//     ended. It learns of the end when that server gives up. See Limits for tokens.
//
// # Limits
//
//   - A holder that is paused beyond the end of its session does not notice the end. Between the
//     expiry at the server and the closing of Lost, two clients may believe that they own a lock.
//     The same happens if the server has granted a shorter session timeout than SessionTimeout
//     says. Pass Token to the resource and let it refuse smaller tokens.
//   - A request larger than the server's jute.maxbuffer (1 MB unless set otherwise) makes the
//     server drop the connection. The recipe cannot tell this from another loss, and repeats the
//     operation until its context is done.
//   - The client cannot remove a watch. The channel of an abandoned wait stays in the client until
//     the watched node changes or the session ends.
//   - A Conn that is closed while its server is silent looks open for another two thirds of the
//     session timeout. A Conn that is closed while no server can be dialled looks open until the
//     host provider has tried all servers. Then the client's own loop ends.
//   - The client (v1.0.4) can hang in Close while requests of other goroutines are on their way: it
//     answers one of them three times, into a channel with room for two. The client then closes no
//     watch channel. Waiters learn that the Conn is closed when they look again, as RecheckEvery
//     says.
//   - Parents are created as persistent nodes and never removed, or with Containers as container
//     nodes, which the server removes when they are empty. Parents that exist are left as they are,
//     and created again if they are removed.
//   - A request waits inside the client while the connection is down. A context can end such a
//     wait; a RetryPolicy cannot.
//   - A directory has 2147483647 sequence numbers. Since ZooKeeper 3.6 the counter then stays at
//     2147483647 (ZOOKEEPER-3249), and the order of children with that number is unknown. Locks,
//     semaphores, elections, CreateProtected and offers to queues remove such a node again and
//     return ErrNumbersUsedUp; elections in the background show it in Err. Owners, waiters and
//     elements with smaller numbers keep their places. Delete the directory when it is empty, and
//     its numbers begin at 0 again; the server deletes a container node itself. Barriers still
//     work, as their members need no order. Other clients in the same directory may still use nodes
//     with the last number: they wait for holders of this package, but these do not wait for them.
//     Servers before 3.6 continue with -2147483648 after the last number. The recipes refuse that
//     number and the next 65535, too.
package recipes
