// Package check is the command zksim check. This is its manual.
//
// zksim check KIND FILE judges the calls that a program has recorded around its real objects, by
// package record; the manual of the file is docs/histories.md. It also reads histories of Jepsen
// and porcupine.
//
// Several processes have a file each. The tokens of their grants and the server's log bound how far
// their clocks differ, unless their first lines name one clock. A verdict that depends on the
// clocks is undecided.
//
// --server-log DIR adds the changes in the transaction log of a real server, and --path names the
// object there.
//
// The command prints the verdicts, and a line with the reason for each property that the history
// does not allow to judge. If one is violated it prints the lines of the history, too. --html draws
// them. The exit status is 1 if a property is violated or undecided. Calls that had not returned
// when the recording ended are no violation.
package check
