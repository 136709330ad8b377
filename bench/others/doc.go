// Command others measures which faults the recipes of other libraries survive, beside those of this
// repository: kazoo (Python), Curator and ZooKeeper's own recipes (Java), and the lock of the
// go-zookeeper client.
//
//	go run -C bench ./others                        everything; half an hour on two cores
//	go run -C bench ./others --run Queue            LIBRARY/RECIPE that match
//	go run -C bench ./others --run kazoo/Queue -v   every failure, the story of the first
//	go run -C bench ./others --markdown             the comparison as a table, too
//
// # The scripts
//
// Two clients, a and b, with a session each, use one object for two rounds:
//
//   - holding (locks, semaphores of one lease, elections): acquire, hold for 15 ms,
//     release. Of a read-write lock a writes and b reads. An acquire is tried until
//     it succeeds, a release three times.
//   - queue: a offers four elements, b takes until the queue is empty. An offer is
//     not repeated. If a queue has a consumer, it consumes from the beginning.
//   - counter: each adds two numbers. All four are different powers of ten, so that the
//     digits of the sum tell how often each was added. An add is not repeated.
//   - barrier: a sets it, b waits, a removes it.
//   - double barrier: each enters, stays and leaves. An enter is tried until it succeeds, a leave
//     three times. Both rounds are at one path.
//   - membership: a joins and stays, b joins and leaves, twice.
//
// The server is a fakezk.Server in this process, a new one for each run, over TCP and in real time;
// the clients are in another program, with its source in drivers/. First the script is played three
// times without a fault, and the requests of each client are counted by operation. Then it is
// played with each single fault of three kinds at each of these requests: drop-request (the
// connection dies before the request is applied), drop-reply (after it was applied), expire (the
// session ends). A point without its request is left out.
//
// # Verdicts
//
// The table promises some properties for each kind of object, and the object of this repository has
// to keep them, too. A point is not survived if one of them is violated:
//
//   - both clients hold at once while both sessions live, and neither client was told of a loss;
//   - an element that was offered successfully reaches no taker, even if a taker got an error;
//   - an element is taken twice, unless the queue promises no more than delivery at least once;
//   - an element is in the queue, but takers get nothing;
//   - the order is wrong, if the queue promises one;
//   - an add that succeeded is not in the sum, or an add is in it twice;
//   - a client passes a barrier, or a double barrier, too early;
//   - a member is not there, or a former member still is;
//   - three seconds after the end of the scripts an ephemeral node is left, its session lives on,
//     and its owner has forgotten it;
//   - a client is stuck: nothing happens for six seconds (twelve in a repetition), or
//     the scripts are not done after fifteen.
//
// A point that fails is tried twice more, and counts as failed only if it fails each
// time. Otherwise it is flaky and counts as survived: in real time two processes do
// not act in the same order twice.
//
// # Settings
//
// kazoo has its defaults: it retries for ever. Curator gets RetryNTimes(50, 100 ms), longer than
// any fault lasts. ZooKeeper's own recipes get a plain handle, and a new one after an expiry.
// Sessions time out after four seconds. So nothing here shows the behaviour after the last retry.
//
// # This repository and the client's lock
//
// These are played in virtual time by package fuzz, with the same kinds of faults at every request
// of two clients and two rounds. Scripts and judges are those of the workloads, which ask for more
// (impatient callers, long holds). Every run of a point is the same; nothing is flaky.
package main
