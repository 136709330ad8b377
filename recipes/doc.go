// Package recipes holds coordination recipes for the go-zookeeper client:
// locks and queues that keep their promises when connections drop and
// sessions end.
//
// The recipes run on any *zk.Conn, against any ensemble of ZooKeeper 3.5 or
// later. They use only what package zk exports (see Conn) and install nothing
// on the connection: no event callback, no host provider.
//
//	lock := recipes.NewLock(conn, "/locks/report")
//	if err := lock.Lock(ctx); err != nil {
//		return err
//	}
//	defer lock.Unlock(ctx)
//	return write(lock.Token(), lock.Lost())
//
// # What is here
//
//   - Lock: the fair lock without herd of the ZooKeeper guide, the one to use.
//   - HerdLock: one node that everybody watches. For teaching.
//   - ClientLock: the client's own zk.Lock behind the same methods.
//   - WriteLock: the lock of the Apache recipes, which queues and tells a listener.
//   - ReentrantLock: a Lock whose owner may lock it again.
//   - RWLock: many readers or one writer, who may go over to reading. Fair.
//   - VersionRWLock: the same around the version of one node. For comparison.
//   - Semaphore: leases, so many of which may be held at once, and several by one.
//   - MultiLock: several locks at once, without deadlocks.
//   - RevocableLock: a Lock whose owner can be asked to give it up.
//   - LeaderLatch, LeaderSelector: leader election, with a fencing epoch.
//   - Barrier: a gate that holds everybody back while it is up.
//   - DoubleBarrier: members that begin together and end together.
//   - ThresholdBarrier: a gate that opens when enough members are there.
//   - TwoPhaseCommit: all sites carry out a transaction, or none does.
//   - Queue: FIFO queue whose elements are neither lost nor doubled by a lost
//     connection.
//   - LockQueue: elements are kept until they are acknowledged, and go to the next
//     consumer when one dies: at least once.
//   - PriorityQueue, DelayQueue: the most urgent element first; nothing before it
//     is due. Delivery is that of Queue.
//   - TurnQueue: a line in which each member waits for its turn.
//   - IDQueue: a Queue from which elements can be called off by their ids.
//   - ApacheQueue: the plain get-then-delete queue, which can lose elements.
//   - Counter: a number to which a lost reply adds neither twice nor never.
//   - SharedValue: data with versions, to read, write and wait for.
//   - IDGenerator: numbers that are handed out once, in blocks.
//   - NodeCache, ChildrenCache, TreeCache: copies that are read without asking
//     the server, with events and a word on whether they may be behind.
//   - ConfigCenter: settings by key, read from a copy and changed at the server.
//   - PersistentNode: an ephemeral node that comes back until it is closed.
//   - Group, GroupMember: who is there, with what they say of themselves.
//   - ServiceRegistry, Registration, ServiceLookup: who serves what, with strategies
//     to choose one; also known as dynamic DNS.
//
// Locker and Queuer are the methods that most of the locks, and the plain queues,
// have in common. Participants of locks, semaphores and elections tells who holds and
// who waits. Err of what works in the background tells of its trouble. A Token, which
// elections call an epoch, fences: later holders have greater ones. For recipes of
// one's own there is the ground they stand on:
//
//   - CreateProtected: a node that is made once, even if the reply is lost.
//   - GuaranteedDelete: a deletion that does not end before it is confirmed.
//   - EnsurePath: a directory, with Containers one that goes when it is empty.
//   - ConnMonitor: connected, suspended or lost, without asking the server.
//   - RetryPolicy, set by Retry: when requests are sent again.
//   - OutcomeOf: applied, not applied or unknown.
//   - Sequence, SortBySequence, CompareSequence; JoinPath, ParentPath, BaseName.
//   - ErrNumbersUsedUp: a directory has had 2147483647 sequential children.
//
// # Errors
//
// A request whose connection dies has an unknown outcome: the server may or
// may not have done it. OutcomeOf sorts the client's errors into applied, not
// applied and unknown. The recipes find out by themselves and try again, for
// as long as the context allows; where they have to return before they know,
// the error wraps ErrAmbiguous, and OutcomeOf of it is Unknown; any other error
// of an operation means that it was not applied. With Retry they give up
// earlier (ErrGaveUp). No operation repeats a request that the server has
// refused for good, such as zk.ErrNoAuth; what goes on in the background does, as
// the refusal may be taken back.
//
// A closed *zk.Conn looks like a dropped connection that never comes back, as
// its methods return zk.ErrConnectionClosed for both. The recipes tell it from
// a series of requests that fail at once, for more than a second, while the
// connection stays in zk.StateDisconnected, which an open Conn only passes
// through. Then they return ErrConnClosed: waiters at once, as the client tells
// their watches, others some 1.3 s after the first such failure, and later if
// the connection was down before and pauses have grown to a second.
//
// # Contexts
//
// The client's requests take no context: while the connection is down they
// wait inside the client. Each operation therefore runs in a goroutine of its
// own, and a caller whose context is done leaves it behind. What is left
// behind only tidies up: after the request that was under way it sends no
// other one of the abandoned operation, removes the operation's nodes, and
// ends as soon as the server has confirmed or refused that, or the Conn is
// closed. A
// caller that leaves waits up to 100 ms for it, so that in the ordinary case
// nothing is left on the server when the method returns. Close of each recipe
// waits for all of it. What a recipe is to keep up until Close, such as a
// PersistentNode, it goes on with: there a context ends only the waiting.
//
// # Conventions
//
//   - Constructors send nothing and start nothing, but for NewConnMonitor. Options
//     are for all recipes; a constructor's comment names those that matter.
//   - What begins in the background and does not wait is called Start, takes no
//     context, and fails only if the recipe is closed; calling it again changes nothing.
//     What waits for the server takes a context first: Ready of what was started;
//     Keep, Join and Register of what is to be there, which also start it. Views that
//     have nothing to be ready for start with the first look.
//   - Err returns why the latest attempt in the background has failed, or nil. Stale
//     says whether a view may be out of date.
//   - Try methods do not wait for others: they return what they have got, whether
//     they have got it, and an error.
//   - Slices that are handed over are copied at once, and what is returned is the
//     caller's.
//   - Close takes a context, ends everything, and leaves the Conn open.
//
// # Limits
//
//   - A lock holder that is paused or cut off past the end of its session
//     cannot know it. Between the expiry at the server and Lost two clients
//     may believe that they own the lock. Pass Token to the resource and let
//     it refuse smaller ones.
//   - A request larger than the server's jute.maxbuffer (1 MB unless set
//     otherwise) makes the server drop the connection, which cannot be told
//     from any other loss: the operation is repeated until its context is done.
//   - The client cannot take a watch back (it has no removeWatches): the
//     channel of an abandoned wait stays in the client until the watched
//     node changes or the session ends.
//   - A Conn that is closed while its server is silent, or while none can be
//     dialled, is not told from an open one until the client's own loop has
//     ended: two thirds of the session timeout later, or when the host provider
//     has gone through all servers.
//   - Parents are created persistent and never removed, or with Containers as
//     container nodes, which the server removes when they are empty. Parents
//     made beforehand are left as they are, and come back if they are removed.
//   - A request waits inside the client while the connection is down, whatever
//     the RetryPolicy says. Only a context ends such a wait.
//   - A directory serves for 2147483647 sequential children. The counter of servers
//     since 3.6 stays there (ZOOKEEPER-3249), and among children of one number
//     nobody knows who came first. Locks, semaphores, elections, CreateProtected and
//     offers to queues give such a node back and return ErrNumbersUsedUp; elections
//     in the background show it in Err. Whoever has come before keeps what it has:
//     owners, waiters and elements. Delete the directory when it is empty, and its
//     numbers begin anew; one made with Containers goes by itself. Barriers go on, as
//     their members need no order. Other clients that share a directory, and go by
//     the names of the last number, have that trouble among themselves; they wait for
//     owners of this package, and these for nobody. The numbers that servers before
//     3.6 give after the last one, -2147483648 and 65535 more, are refused as well.
package recipes
