// Package gallery keeps wrong recipes of coordination beside right ones, and finds their bugs. It
// is the proof that the harness can fail, and a collection of bugs to look for in code that
// coordinates through ZooKeeper.
//
//	zksim gallery                               find all that have a story
//	zksim gallery vanished-predecessor --story  find one, and tell its story
//	zksim gallery --list                        list all, with their sources
//
// # Exhibits
//
// Each kind of object has one or several files, and one right base in kinds.go. The base is a short
// implementation made of steps. If a short one cannot survive, the base is a recipe of package
// recipes. An [Exhibit] is a base with one step replaced by a wrong one:
//
//	Wrong: lockOf(func(l *plainLock) {
//		l.confirm = nothing // wrong: the node may be another session's
//	}),
//
// The bugs of most exhibits are published, in a bug report, in code or in a tutorial: see Source
// and Link. The recipes are written for this package, as short as the bug allows. Exhibits of
// source Ours have a story, too, but no public source. Planted ones were made to test the harness.
// The Script of a bug that needs an ensemble has its number of servers. [Absent] lists published
// bugs that cannot be shown, and why.
//
// # Another exhibit
//
// Add one value to the file of its kind, then
//
//	go test ./fuzz/gallery -run 'Hunt/the-slug' -full -update
//
// hunts it and writes its smallest scenario, its story, and the number of scenarios until it was
// found to testdata. Read the story: a recipe that is wrong in two ways is found for the simpler
// one. An exhibit that is planted needs a title, a property and the wrong recipe only.
//
// # Tests
//
// go test ./fuzz/gallery replays the smallest scenario of each story, to the byte of its
// trace, and lets the right recipe survive it. It hunts two exhibits of each kind that are
// found within 4 scenarios by testdata/hunts.txt, and most of the planted ones. Their right
// recipes, and the base of each kind, survive 15 scenarios. With -full it hunts all
// exhibits. Each right recipe has to survive as many scenarios as it took to find the wrong
// one, and 50 at least, and each base a complete sweep of single faults.
package gallery
