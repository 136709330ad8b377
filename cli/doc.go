// Package cli is the command zksim. It looks for bugs in code that coordinates through ZooKeeper:
// it runs the code against a simulated server under faults, makes the violations small, and replays
// them. This is the manual of the command.
//
//	zksim demo                 find, shrink and explain a real deadlock
//	zksim list                 workloads, implementations, strategies, fault kinds
//	zksim sweep WORKLOAD       every single fault at every protocol step
//	zksim prove WORKLOAD       every run of a small script, once for each class of equal ones
//	zksim fuzz [WORKLOAD]      a hunt by several strategies, on all cores
//	zksim gallery [NAME...]     wrong recipes, found again
//	zksim merge FILE...        the reports of several processes, as one
//	zksim run FILE...          scenario files, as tests
//	zksim replay FILE          one scenario file, step by step
//	zksim diff A B             where two traces part
//	zksim check KIND FILE      a history of a real system, judged
//	zksim conform              the same requests to it and to a running ZooKeeper
//	zksim go SUBCOMMAND        go test, run, build or vet, for code that dials by itself
//	zksim serve                an in-memory ZooKeeper on TCP, for clients in any language
//	zksim dump HOST:PORT,...   the tree of a running ZooKeeper
//	zksim completion SHELL     the completion script of bash, zsh or fish
//	zksim version              the version of the module
//
// # Your own workloads
//
// A command that also knows your own code is a program of a few lines. It passes its workloads to
// [Main], the same values that a test passes to fuzz.Test:
//
//	package main
//
//	import (
//		"example.org/mylock"
//
//		"github.com/zksim/zksim/cli"
//		"github.com/zksim/zksim/fuzz/object"
//	)
//
//	func main() {
//		cli.Main(object.Lock(func(env object.Env) object.Locker {
//			return mylock.New(env.Conn, env.Path)
//		}, object.LockClaims{Fair: true}).Named("mylock"))
//	}
//
// Then `go run ./myzksim fuzz mylock` hunts in it, and list, sweep, run, replay and diff know it
// too. A WORKLOAD on the command line is a kind of object, such as lock, with --impl for the
// implementation, or the name of an implementation that one kind has.
//
// Named may be left out: then the implementation has the name of the program, myzksim, and further
// ones of the same kind are myzksim-2, myzksim-3. Scenario files hold the name, so give one if the
// program may get another name.
//
// # A hunt
//
// zksim fuzz WORKLOAD prints a summary when the hunt ends or is interrupted: the numbers of
// scenarios, of different traces and of different behaviours. It minimizes each violation.
// Violations with the same minimal scenario are one finding, which names all of them. A violation
// that does not happen in each run of its scenario is printed but not saved, as it could not be
// replayed. If a file cannot be written to --save, stderr has the error and stdout the scenario.
//
// --corpus DIR keeps the scenarios that showed new behaviour, each in its own file. A file is
// written as a whole, so an interrupt leaves no half of one. The next hunt plays the corpus first,
// in the order of the files' names and not counted by --runs and --for. The summary gives the
// number of these ("1000 scenarios after 526 of the corpus") and of the files added. The rest of
// the hunt depends on --seed and on the corpus. The same seed with a larger corpus plays other
// scenarios; a copy of the corpus gives the same hunt again. If a hunt adds no file, it says so:
// only another --seed can find more. A violation in the corpus is a finding and counts for
// --findings; if violations of the corpus alone end a hunt, its output asks for a higher
// --findings. --findings counts violations with different texts, before they are minimized. Files
// (.yaml, .yml) without a scenario of a known workload are named on stderr and left out.
//
// A workload may have goals ([scenario.Workload].Sometimes). The summary has the number of
// scenarios that reached each goal, and names the goals that were never reached. It also names the
// optional methods of the object that no scenario has called.
//
// With --servers HOST:PORT,... fuzz, sweep and run play on a running ensemble, in real time: 16
// scenarios at once, each below a node of its own, which it deletes at its end. Findings are not
// minimized there, and faults that would end a server are refused. docs/real.md has the details.
//
// fuzz and sweep end with an error if a workload has no recorded calls, no goals and no verdicts of
// its own: there is nothing to find.
//
// zksim fuzz without a WORKLOAD, or with all, hunts in every workload without a known bug (see
// zksim list), one after the other, and adds a total. Each workload gets an equal share of --runs
// and --for; unused runs and time pass to the next ones. It includes your own workloads, unless
// their field Flawed is set. With --goroutines above 1, workloads with objects for a single
// goroutine are left out. Without --goroutines one goroutine of a client uses an object. If the
// object is made for more (Env.InTurn), some strategies use two or three in one scenario of four.
//
// # A replay
//
// zksim replay reports differences between a run and the expectations of the file, for instance a
// fault of its plan that matches nothing; with --step it does so before the walk and at its end.
// --html draws the run as one HTML page (see package picture).
//
// A scenario file that a test has saved names the test and its package. If the command does not
// know the workload, run, replay and diff build the tests of that package with go, and let the test
// play the file. If they cannot be built, the error has the go test line to run.
//
// zksim diff takes scenario files (.yaml, .yml) and texts with a trace: a whole one, as replay
// --trace prints it, or the first part, as --until and go test with -zksim.until print it. A text
// with missing or damaged lines, such as a story, is refused with the place of the line.
//
// # The gallery
//
// zksim gallery finds the bugs of wrong recipes again. A hunt gets only the recipe. Name exhibits
// by slug or by old id. Without names the command hunts every exhibit that has a story; --list
// lists all with their sources. After an interrupt the completed hunts count. For a bug without an
// exhibit the command prints the reason, or the exhibit with the same cause; --absent lists these
// bugs.
//
// Medians are over the hunts that found the bug. If two hunts are in the middle, the median number
// of scenarios is the larger one, and the median time is the mean.
//
// # The server, and histories of real systems
//
// zksim serve has a manual of its own, package [github.com/zksim/zksim/cli/serve], with the
// requests of the control endpoint. That of tree files is package
// [github.com/zksim/zksim/fakezk/tree], and that of zksim check package
// [github.com/zksim/zksim/cli/check].
//
// # Exit status
//
//	0    everything is as expected
//	1    a property is violated, all scenarios are undecided, or a history is, a file is
//	     not as expected, a proof is not complete, a bug of the gallery is not found, two
//	     runs of one seed or the traces of diff differ, a tree was dumped in part, or a
//	     server breaks
//	2    the input is wrong, or there was nothing to judge
//	3    the disk is full, the output cannot be written, or the process was killed
//	130  Ctrl-C or SIGTERM
//
// A violation, or a file of run that is not as expected, gives 1 even if an interrupt or an error
// follows. After an interrupt, a violation that is not yet small is printed and saved as it is,
// with "not made smaller: interrupted". An error that ends a sweep or a hunt, for instance of a
// judge or of a write to the corpus, is on stderr, after the findings before it. Undecided verdicts
// of sweep and fuzz are counted in the output.
package cli
