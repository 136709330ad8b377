// Package foreign reads the histories of other tools as histories of package linearizability: those
// of Jepsen, in EDN, and those of porcupine, in JSON.
//
//	h, err := foreign.Jepsen(file, "register", "")
//	report := linearizability.Judge(h, nil, value.Register{})
//
// The kinds are "register", "queue" and "lock". docs/histories.md has the operations of each. The
// steps of a history count its events from 1. A process becomes a client, "p3" for process 3.
//
// An error has the line, the field and what was expected. An operation of another name is an error.
// The processes of a nemesis are left out. An EDN form may have at most 1 MiB.
package foreign
