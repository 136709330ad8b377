// Package record writes and reads histories that were recorded outside of a simulation: around real
// locks, queues and registers, in a program that uses a real ZooKeeper. Package linearizability and
// the command zksim check judge them.
//
//	file, err := os.Create("history.jsonl")
//	...
//	recorder := record.New(file)
//	call := recorder.Call("worker-1", ops.Lock, "")
//	err = lock.Lock(ctx)
//	if err != nil {
//		call.Unknown(linearizability.Result{}, err)
//	} else {
//		call.OK(linearizability.Result{Token: lock.Token(), Session: conn.SessionID()})
//	}
//	...
//	err = recorder.Close() // returns an error of the file
//
// Package ops has the calls of each kind of object, with their inputs and outputs. A call that
// returned an error is Failed if it has certainly had no effect, and Unknown otherwise. A release
// that fails because its client held nothing any more is NotHeld: Failed would say that the client
// still holds. One Recorder records one object. All clients of the object have to be recorded. A
// file has one clock; [Align] and [Merge] unite the files of several processes.
//
// A history is read and judged by
//
//	file, err := record.Load("history.jsonl")
//	report := linearizability.Judge(file.History, nil, lock.Claims{})
//	unjudged := linearizability.Unjudged(file.History, report, lock.Claims{})
//
// # The file
//
// A file has JSON Lines: one object a line. The first line has the version, and each other line is
// one event. The number of a line, from 1, is the step of its event, so a verdict that speaks of
// step 7 speaks of line 7. docs/histories.md has all fields.
//
// [Read] refuses everything that it does not know: another version, an unknown field, a value of
// another type, a return without a call. An error names line and field. A line may have at most 1
// MiB.
//
// # Cost
//
// A Recorder takes the time and appends a line to a buffer, under a mutex. A goroutine of the
// Recorder writes the buffer out, so no caller waits for the file. If the file has an error, or is
// 16 MiB behind the calls, the Recorder stops, and Close returns the reason. The file then has the
// events up to that moment, which can be judged.
//
// # The server's side
//
// With [File.WithServer] a history has the changes in the transaction log of a real server, too,
// which realworld.LogChanges reads. So does zksim check --server-log.
//
// # A log instead of a file
//
// [NewLog] sends the lines to a [log/slog.Handler], each as the attribute zksim of a record. If it
// writes JSON, the log can be judged as it is: Read leaves out the lines without that attribute.
package record
