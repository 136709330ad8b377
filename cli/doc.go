// Package cli is the command zksim: it hunts for bugs in code that coordinates
// through ZooKeeper, by running it against a simulated server under faults, shrinks
// what it finds, and replays it. This is its manual.
//
//	zksim demo                 find, shrink and explain a real deadlock
//	zksim list                 workloads, implementations, strategies, fault kinds
//	zksim sweep WORKLOAD       every single fault at every protocol step
//	zksim fuzz [WORKLOAD]      a hunt by several strategies, on all cores
//	zksim gallery [NAME...]     wrong recipes, found again
//	zksim run FILE...          scenario files, as tests
//	zksim replay FILE          one scenario file, step by step
//	zksim diff A B             where two traces part
//	zksim conform              the same requests to it and to a running ZooKeeper
//	zksim serve                an in-memory ZooKeeper on TCP, for clients in any language
//	zksim --version            the version of the module
//
// # With workloads of your own
//
// A zksim that also knows your own code is a program of a few lines, which hands
// its workloads to [Main]:
//
//	package main
//
//	import (
//		"github.com/go-zookeeper/zk"
//		"github.com/zksim/zksim/cli"
//		"github.com/zksim/zksim/fuzz"
//	)
//
//	func main() {
//		cli.Main(object.Lock("mylock", object.LockClaims{Fair: true}, func(c *zk.Conn) object.Locker {
//			return mylock.New(c, "/lock")
//		}))
//	}
//
// Then `go run ./myzksim fuzz lock --impl mylock` hunts in it, and list, sweep, run,
// replay and diff know it as well. Where a WORKLOAD is asked for, the name of an
// implementation will do, if only one has it: `go run ./myzksim fuzz mylock`.
//
// # A hunt
//
// zksim fuzz WORKLOAD tells, when it is over or interrupted, how many scenarios it
// has tried, in how many different orders requests and faults have come (traces), and
// how many different things have happened (behaviours). What it has found it makes
// small first; findings that become the same scenario are one, and it says which
// they were. One that is not violated each time its scenario is run is told as such, and
// not saved, as nobody could see it again. What --save cannot write is told on stderr, and
// printed instead.
//
// --corpus DIR keeps what has shown new behaviour, one scenario file each, which is
// written whole whenever the hunt is interrupted. The next hunt plays all of these
// first, besides what --runs and --for say, and tells how many there were ("1000
// scenarios after 526 of the corpus") and how many it has added. What it tries then is
// decided by --seed and by what the corpus holds, in the order of the files' names: with
// the same seed it goes on elsewhere, and on a copy of the corpus it does the same
// again. If it has added nothing it says so, as the next one needs another --seed. A
// violation in the corpus is a finding like any other, and counts towards --findings; if nothing is left of these, it says that --findings must be raised
// to go on. What --findings counts are violations that read differently before they are made small.
// Files (.yaml, .yml) that are no scenario of a known workload are told on stderr and left
// out.
//
// The goals of a workload ([scenario.Workload].Sometimes) are told with the number of
// scenarios in which each was reached, and one that was never reached is told as such.
//
// A workload of which no client records a call, and which has neither goals nor verdicts of
// its own, is wrong input: there would be nothing to find. So it is for zksim sweep.
//
// zksim fuzz without a WORKLOAD, or with all, hunts in every workload that is not
// known to be flawed (zksim list tells), one after the other, and adds a total. Each
// has an equal part of --runs and --for; what one leaves, since it found something or had
// nothing left to try, the next ones have. Workloads of your own are among them, and
// their field Flawed leaves them out. With --goroutines those are left out whose objects are
// not for several goroutines.
//
// # A replay
//
// zksim replay tells where a run is not as the file expects, for instance where a
// fault of its plan matches nothing any more; with --step before the walk and at its end.
// --draw writes a picture where the judge of the workload has one, such as those of
// locks; elsewhere it says "no picture" after the story, which changes no exit status.
//
// zksim diff takes scenario files (.yaml, .yml) and texts that hold a whole trace, as
// replay --trace prints it, or the beginning of one, as --until does. A text in which lines
// are missing or damaged, a story for instance, is refused with the line's place.
//
// # The gallery
//
// zksim gallery finds the bugs of wrong recipes again, each by a hunt that begins with
// nothing but the recipe. Exhibits are named by slugs, or by their old ids; without names
// all are hunted that have a story, and --list lists all with their sources. Medians are over the hunts that have found something: of two numbers
// of scenarios in the middle it is the larger one, of two times their mean. An interrupt
// keeps the hunts that have ended until then, those of the exhibit under way too. A bug without
// an exhibit is answered by why the bug is absent, or by the exhibit that has the same
// cause; --absent lists the absent ones, or those of them that are named.
//
// # The server
//
// zksim serve forgets everything when it stops, unless --dump keeps it. It prints
// "listening on HOST:PORT" on stdout once clients can connect, logs on stderr,
// and ends with status 0 on SIGTERM or an interrupt, after writing the dump; a
// second signal kills it. Faults come from --plan, --fault and the control
// endpoint, which --control HOST:PORT opens: HTTP with JSON, for this machine
// only unless --control-anywhere is given too, as it asks for no password. It
// takes requests whose Host is localhost or an address such as 127.0.0.1, so that
// no page in a browser reaches it under another name.
//
//	GET  /                     lists what there is
//	GET  /tree, /sessions, /watches, /faults
//	GET  /dump                 the tree as a tree file; ?format=yaml or json
//	POST /load                 a tree file: makes its nodes
//	POST /expire               {"session":"S1"}: ends a session
//	POST /drop                 {"session":"S1"}: closes its connection; nothing: all
//	POST /stall                {"for":"2s","session":"S1"}: holds its bytes
//	POST /fault                {"line":"drop-reply op=create request=1"}, or lines
//	POST /clear                disarms all faults and ends what they do
//	POST /reset                makes the server as new
//
// A session is S1 for the first that was created, or its id as 0x... or in
// decimal; null and "" are errors. An error is {"error":"..."} with status 400 for
// a wrong request, 403 for one of another site or to another Host, 404 for a
// session or path that is not there, 405 for a wrong method, 409 for what is in
// conflict with what the server holds, 413 for a body too long, 503 while the
// server stops.
//
// # Tree files
//
// A tree file, for --load, --dump and the control endpoint, maps paths to nodes,
// in YAML or JSON:
//
//	zxid: 42                   # in a dump: the server goes on after it
//	/app: hello                # data as text; quotes around what looks like a number
//	/app/nothing: ~            # null data
//	/app/locks:
//	  data: text               # or base64: AAEC
//	  acl:                     # scheme:id:perms; world:anyone:cdrwa if absent
//	    - world:anyone:r
//	  kind: container          # or persistent, or ttl with ttl: 90s
//	  next: 12                 # number of the next sequential child
//
// Ephemeral nodes are not in a dump: their sessions end with the server. Clients
// that live through a restart are refused while the server's zxid is below what
// they have seen, so a tree without zxid needs new clients.
//
// The server answers as a ZooKeeper 3.8.0 with extendedTypesEnabled=true and
// 4lw.commands.whitelist=*. Its log tells of sessions that begin and end, faults
// that fire, and of connections, handshakes and frames that are refused.
//
// # Exit status
//
// The exit status is 0 if everything is as expected, 1 if a property is
// violated, a bug of the gallery is not found, two runs of one seed differ, a
// server breaks or the output cannot be written, 2 if the input is wrong, and 130
// if it was interrupted, by Ctrl-C or SIGTERM. What is known decides first: an interrupt or an error after a
// violation was found, or a file of run was not as expected, is a 1; what was found and not
// yet made small is shown and saved as it is, with "not made smaller: interrupted", and an
// error that ends a sweep or a hunt, for instance of a judge or of a corpus that cannot be
// written any more, is told on stderr after what was found before it. Verdicts left
// undecided by sweep and fuzz are counted in the output and are no reason to fail.
package cli
