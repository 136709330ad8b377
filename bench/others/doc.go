// Command others measures what the recipes of other libraries survive, beside
// those of this repository: kazoo (Python), Curator and ZooKeeper's own recipes
// (Java), and the lock of the go-zookeeper client.
//
//	go run ./internal/others                          everything; half an hour on two cores
//	go run ./internal/others -run 'Queue'             LIBRARY/RECIPE that match
//	go run ./internal/others -run kazoo/Queue -v      every failure, and what happened in the first
//
// # What is played
//
// Two clients, a and b, with a session each, use one object for two rounds:
//
//   - holding (locks, semaphores of one lease, elections): acquire, hold for 15 ms,
//     release. Of a read-write lock a writes and b reads. An acquire is tried until
//     it succeeds, a release thrice.
//   - queue: a offers four elements, b takes until the queue is empty. An offer is
//     not repeated. Queues with a consumer have it from the beginning.
//   - counter: each adds two numbers, powers of ten of which no two are equal, so
//     that the digits of the sum tell how often each was added. An add is not repeated.
//   - barrier: a sets it, b waits, a removes it. Double barrier: enter, which is tried
//     until it succeeds, stay, leave, which is tried thrice; both rounds at one path.
//   - membership: a joins and stays, b joins and leaves, twice.
//
// The server is a fakezk.Server in this process, a new one for each run, over TCP
// and in real time; the clients are in a program of their own, which drivers/ has
// the source of. First the script is played without a fault, thrice, and each
// client's requests are counted by operation. Then once with each single fault of
// three kinds at each of these requests: drop-request (the connection dies before
// the request is applied), drop-reply (after it was), expire (the session ends). A
// point whose request does not come is left out.
//
// # What counts
//
// A point is not survived if a property is violated that the README's row promises
// and the object of this repository has to keep, too:
//
//   - two hold at once while the sessions of both live, and none was told of a loss;
//   - an element was offered successfully and reaches nobody, whatever error its
//     taker got; it is got twice, where the queue does not say that it delivers at
//     least once; or it is in the queue and who takes gets nothing; or the order is
//     wrong, where there is one;
//   - an add that succeeded is not in the sum, or any is in it twice;
//   - who passes a barrier, or a double barrier, passes too early;
//   - a member is not there, or one that has left still is;
//   - an ephemeral node is left three seconds after the scripts have ended, of a
//     session that lives on and that nobody remembers;
//   - a client gets on no more: nothing happens for six seconds (twelve when tried
//     again), or the scripts are not done after fifteen.
//
// What fails is tried twice more, and counts as failed only if it fails each time.
// Otherwise it is called flaky and counts as survived: the order of what two
// processes do in real time is not the same twice.
//
// # Settings
//
// kazoo has its defaults, by which it tries again for ever; Curator gets
// RetryNTimes(50, 100 ms), longer than any fault lasts; ZooKeeper's own recipes get a
// plain handle, and a new one when the session has expired. Sessions time out after
// four seconds. So nothing here shows what happens when retries run out.
//
// # This repository and the client's lock
//
// These are played in a World of package fuzz, with the same kinds of faults at
// every request of two clients and two rounds. Their scripts are those of the
// workloads, which ask for more (impatient callers, long holds), and so are their
// judges. Everything there is the same each time; nothing is flaky.
package main
