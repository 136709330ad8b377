package view

import (
	"fmt"
	"time"
)

// Record is one thing that happened at a server, as History shows it.
type Record struct {
	// Number counts the records of the server, from 1.
	Number int64
	Time   time.Time
	Kind   RecordKind
	// Session is the name of the session concerned, empty if there is none.
	Session string
	// Op is the operation of a request, as in the trace of a World (create, getData, multi), the
	// type of a notification (NodeCreated), or the name of a call.
	Op string
	// Path is the node concerned, empty if there is none, cut like Text.
	Path string
	// Text is the record in words, cut if it has more than 2,000 bytes. A request begins with ->
	// and ends with its result, a notification begins with <-.
	Text string
	// Data is the data of a znode that the request writes, even in vain, or that its answer has. It
	// is nil without any, and it is cut like Text.
	Data []byte
}

// String is the record in one line, as in: 7 S1 -> create /a: ok /a, zxid 5.
func (r Record) String() string {
	if r.Session == "" {
		return fmt.Sprintf("%d %s", r.Number, r.Text)
	}
	return fmt.Sprintf("%d %s %s", r.Number, r.Session, r.Text)
}

// RecordKind is the kind of a Record.
type RecordKind string

// The kinds of records.
const (
	// RequestRecord is a request that the server has carried out or refused. Pings are left out.
	RequestRecord RecordKind = "request"
	// NotificationRecord is a watch notification that was sent.
	NotificationRecord RecordKind = "notification"
	// FaultRecord is a fault that acts for the first time.
	FaultRecord RecordKind = "fault"
	// EventRecord is an event of the log: a session begins, ends, or loses its connection, or
	// something is refused.
	EventRecord RecordKind = "event"
	// CallRecord is a call of a method of the server, such as Put, Inject or Restart.
	CallRecord RecordKind = "call"
)
