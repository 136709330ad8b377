// Package foreign reads the histories that other tools of this trade write: those of Jepsen, in
// EDN, and those of porcupine, in JSON. They become histories of package linearizability.
//
//	h, err := foreign.Jepsen(file, "register", "")
//	report := linearizability.Judge(h, nil, linearizability.Register{})
//
// The kinds are "register", "queue" and "lock". docs/histories.md has the operations of each. The
// steps of a history count its events from 1. A process becomes a client, "p3" for process 3.
//
// An error has the line, the field and what was expected. An operation of another name is an error.
// The processes of a nemesis are left out. One form of EDN may have 1 MiB.
package foreign
