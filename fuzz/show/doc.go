// Package show shows the run of a scenario file: its story, its trace, the world at a line, a walk
// through it, its difference from another run, a picture, or JSON for programs.
//
// A [View] selects the output. The command zksim and the tests of package fuzz show the same, as
// both use it. For a scenario that only a test knows, the command runs the program of that test
// with a [Task].
package show
