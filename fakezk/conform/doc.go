// Package conform sends the same requests to two ZooKeeper servers and compares
// every answer: reply headers with their zxids, bodies, events and their place
// among the replies of a connection, closed connections.
//
//	report, err := conform.Compare(ctx, a, b, conform.Options{Ops: 20_000, Seed: 1})
//	fmt.Print(report.Table())
//
// What is sent are scripts: families of fixed ones, by subject (families/*.txt;
// Families lists them), and random ones of several sessions, drawn by rapid from
// a seed and shrunk to the first difference. Scripts work below the node [Root],
// which is deleted before each of them and at the end.
//
// Three things cannot be equal and are compared by their pattern: session ids and
// passwords, by order of appearance, and times, which are left out. Zxids count
// from the beginning of a script, but for two fresh servers, where they are
// compared as they are. The order of events on different connections is not
// compared, as no server promises one.
//
// Some scripts need something of a server: searches for containers every 500 ms
// (znode.container.checkIntervalMs), enforceQuota, TTL nodes
// (extendedTypesEnabled), the super user of [SuperDigest]. Where it lacks that
// they are skipped, and the table says so.
//
// Not compared, as the real server dies of it: a check outside of a multi and a
// restart, createTTL with a negative ttl, and limits set on the quota of "/".
package conform
