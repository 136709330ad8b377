// Package museum keeps published bugs of coordination recipes, each as a recipe that
// has it, small enough to see it, beside a link to the report; and finds them again. It
// is the track record of the harness, and a collection of what to look for in code that
// coordinates through ZooKeeper.
//
//	zksim museum                 find them all again, from nothing but the recipes
//	zksim museum B16 --story     find one, and tell what happens in the smallest scenario
//
// # What is here
//
// An [Exhibit] tells its bug in a few sentences and has two workloads: Wrong, with the
// bug, and Right, which survives what finds the other. Most differ in nothing else;
// where the recipe that Wrong begins with cannot survive, because of more than this
// bug, Right is a recipe of package recipes. [Exhibit.Hunt] looks for the bug as [hunt.Hunt] does, knowing
// nothing of it, and shrinks what it finds. The smallest scenarios are
// kept in testdata, one file for each exhibit, with the story of each beside it; zksim
// replay takes them. [Absent] lists what cannot be shown, and why.
//
// The recipes are written anew after the reports, with the least that shows the bug.
// They are not the code of the projects named, most of which have long been mended.
//
// # An exhibit more
//
// One file, named after its id and what is wrong, holds a function that returns the
// Exhibit; a line in exhibits.go lists it. Most begin with a lock that is right, naked,
// and put a wrong step in the place of one of its own:
//
//	Wrong: lockOf(func(l *naked) {
//		l.confirm = func() error { return nil } // wrong: whose node it is is not asked
//	}),
//	Right: lockOf(nil),
//
// electionOf, semaphoreOf, readWriteOf and turnOf do the same for other objects that are
// held. lineOf begins with a queue, gatheringOf and quorumOf with a double barrier and a
// threshold barrier, drawnOf with a read-write lock of a tutorial, mirrorOf with a copy of
// a node, centerOf with a configuration centre, groupOf and registryOf with members.
// These are right in one step after the other as naked is, but for line, gathering and
// drawn, which are right only as far as their exhibits need it: there Right is the recipe
// of package recipes, by builtIn, or another. openLock and openElection take any
// implementation, for a bug in how the steps follow each other; any scenario.Workload will
// do, judgedBy an invariant of its own for what no judge asks. Then
//
//	go test ./fuzz/museum -run 'Hunt/B16' -full -update
//
// hunts it and writes its scenario and story, and in how many scenarios it was found;
// without /B16 it does so for all of them. Read the story: a recipe that is wrong in two
// ways is found for the simpler one.
//
// # What is tested when
//
// go test ./fuzz/museum replays the smallest scenario of every exhibit, to the byte of its
// trace and of its story, and lets the right recipe survive it. It hunts those exhibits
// that are found within 10 scenarios by testdata/hunts.txt, and lets their right recipes
// survive 15 scenarios of the same hunt. With -full it hunts all exhibits, and each right
// recipe has to survive as many scenarios as it took to find the wrong one, and 50 at
// least. The seed is 1 throughout, so that each test run does the same.
//
// # Limits
//
// What is found depends on the seed; how soon, on the machine. A hunt gives up after
// [MaxRuns] scenarios.
package museum
