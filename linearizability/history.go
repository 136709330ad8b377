package linearizability

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// History is the history of one object: the calls and notices of its clients and, as far as known,
// the changes at the server. The slices need no particular order.
type History struct {
	Ops     []Op
	Server  []ServerEvent // nil if the server's side is not known
	Notices []Notice
	End     int64         // the last step
	EndTime time.Duration // its time

	OneServer bool // has given all answers, so no read is stale, whatever is claimed
}

// Outcome is the outcome of an operation as its client knows it.
type Outcome int

// The outcomes of an operation.
const (
	OpPending Outcome = iota // it never returned
	OpOK                     // it returned a result
	OpFailed                 // it returned an error, and has certainly not been applied
	OpUnknown                // it returned an error, and may have been applied
	OpNotHeld                // a release returned an error: the hold had been lost before the call
)

// String returns the outcome in one word.
func (o Outcome) String() string {
	switch o {
	case OpPending:
		return "pending"
	case OpOK:
		return "ok"
	case OpFailed:
		return "failed"
	case OpUnknown:
		return "unknown"
	case OpNotHeld:
		return "not held"
	}
	return fmt.Sprintf("Outcome(%d)", int(o))
}

// Op is one call of a client into a recipe.
type Op struct {
	Client string
	Kind   string
	Input  string
	// Output is the result of the call. A take with an unknown outcome that returned an element
	// beside its error has the element here, too.
	Output string
	Empty  bool  // poll, peek: the queue was empty
	Token  int64 // lock: the fencing token, the czxid of the client's znode; 0 if it has none
	// Session is the client's session when the call returned, not when it began: a recipe may have
	// started again in a new one. 0 if not known.
	Session    int64
	Call       int64 // step of the call
	Return     int64 // step of the return; below 0 if it never returned
	CallTime   time.Duration
	ReturnTime time.Duration
	Deadline   time.Duration // when the context of the call was done; 0 if not known, or never
	Outcome    Outcome
	Err        string
}

// ProcessDied is the Err of a call during which the process of its client died.
const ProcessDied = "the process died"

func (o Op) Pending() bool { return o.Return < 0 || o.Outcome == OpPending }
func (o Op) OK() bool      { return o.Outcome == OpOK && o.Return >= 0 }

// ServerEventKind is the kind of a change at the server.
type ServerEventKind int

// The kinds of server events.
const (
	NodeCreated ServerEventKind = iota + 1
	NodeDeleted
	DataChanged
	SessionStarted
	SessionEnded
)

// String returns the name of the kind.
func (k ServerEventKind) String() string {
	switch k {
	case NodeCreated:
		return "NodeCreated"
	case NodeDeleted:
		return "NodeDeleted"
	case DataChanged:
		return "DataChanged"
	case SessionStarted:
		return "SessionStarted"
	case SessionEnded:
		return "SessionEnded"
	}
	return fmt.Sprintf("ServerEventKind(%d)", int(k))
}

// ServerEvent is one change that the server applied. The end of a session is one SessionEnded and a
// NodeDeleted for each of its ephemerals. The deletes may have later steps, if a follower applies
// them later.
type ServerEvent struct {
	Step  int64
	Time  time.Duration
	Kind  ServerEventKind
	Path  string
	Data  string // of the znode: NodeCreated, DataChanged
	Zxid  int64
	Czxid int64 // of the znode
	// Session is the session of the request, 0 for the server itself: an expiry has Session 0 and
	// Owner set, a close by the client has both.
	Session int64
	// Owner is the ephemeral owner of the znode, or the session that started or ended.
	Owner    int64
	Client   string // the client of Session (or of Owner, if Session is 0), if known
	Notified int    // watch notifications that this change fired
	TTL      bool   // NodeCreated: the znode was made with a time to live, if that is known
	// Why says why the server itself deleted a znode without a session: "its TTL was over".
	Why string
}

// NoticeKind is the content of a notice.
type NoticeKind int

// The kinds of notices. SessionExpired and LockLost end the client's right to believe that it holds
// anything. Disconnected ends it only with DisconnectEndsBelief of a lock: a session outlives most
// disconnects.
//
// A client is cut off from Disconnected or SessionExpired until Connected. The time of a patience,
// such as that of a queue, begins after that. If a history has no Connected for a client, its
// losses count as over at once.
const (
	Disconnected NoticeKind = iota + 1
	SessionExpired
	LockLost  // the recipe's own signal
	Connected // with a session, the old one or a new one
	// From Paused to Resumed a call does not go on although the client has its reply. A pause is no
	// loss, but the client counts as cut off.
	Paused
	Resumed
	// Unanswered: a request of the client has been without an answer for longer than any takes
	// without a fault, such as a renewal of a lease. The client knows of no loss.
	Unanswered
	// Died: the process of the client has ended, so that it holds and wants nothing any more. It
	// counts as a SessionExpired, too.
	Died
)

// String returns the content of the notice in words.
func (k NoticeKind) String() string {
	switch k {
	case Disconnected:
		return "disconnected"
	case SessionExpired:
		return "session expired"
	case LockLost:
		return "lock lost"
	case Connected:
		return "connected"
	case Paused:
		return "paused"
	case Resumed:
		return "resumed"
	case Unanswered:
		return "unanswered"
	case Died:
		return "died"
	}
	return fmt.Sprintf("NoticeKind(%d)", int(k))
}

// Notice records that a client learned of a loss, a possible loss, or a new connection.
type Notice struct {
	Client string
	Step   int64
	Time   time.Duration
	Kind   NoticeKind
	// Token is the [Op.Token] of the hold that a LockLost is about, for clients that hold several
	// locks, as their goroutines may: 0 if it is not known.
	Token int64
	// Session is the session that a SessionExpired is about, for clients that have several: 0 if it
	// is not known.
	Session int64
}

// Sorted returns a copy in step order; the sort is stable.
func (h History) Sorted() History {
	h.Ops = slices.Clone(h.Ops)
	h.Server = slices.Clone(h.Server)
	h.Notices = slices.Clone(h.Notices)
	slices.SortStableFunc(h.Ops, func(a, b Op) int { return cmp.Compare(a.Call, b.Call) })
	slices.SortStableFunc(h.Server, func(a, b ServerEvent) int {
		return cmp.Compare(a.Step, b.Step)
	})
	slices.SortStableFunc(h.Notices, func(a, b Notice) int { return cmp.Compare(a.Step, b.Step) })
	for _, op := range h.Ops {
		h.End = max(h.End, op.Call, op.Return)
		h.EndTime = max(h.EndTime, op.CallTime, op.ReturnTime)
	}
	if n := len(h.Server); n > 0 {
		h.End = max(h.End, h.Server[n-1].Step)
	}
	return h
}
