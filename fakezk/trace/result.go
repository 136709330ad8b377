package trace

import (
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/view"
)

// Step is the trace line number of a Moment; for AfterEnd it is one more than the trace has lines.
func (r *Result) Step(m Moment) int64 { return r.Trace.find(m) }

// LogLine is a line that the code under test has logged.
type LogLine struct {
	Time time.Duration // virtual, since the World began
	Text string
}

// Result is the result of a run.
type Result struct {
	// Logs has what the code under test has logged, if the World keeps it. It is no part of the
	// trace: texts such as addresses of memory may differ in two runs.
	Logs []LogLine
	// Trace is the canonical record.
	Trace Trace
	// Requests are the requests that reached the server, or that a fault kept from it, in order,
	// without pings and handshakes. They are the coordinates of faults.
	Requests []RequestPoint
	// Events are the watch notifications that the server sent, in order.
	Events []EventPoint
	// Changes are the changes of tree and sessions, in order.
	Changes []Change
	// Notices are the clients' notices of their sessions, in order.
	Notices []Notice
	// Servers are the states of the servers, in order, beginning with the first state of each; nil
	// with one server, and in a real world.
	Servers []ServerState
	// Nodes, Sessions and Watches are the server's state at rest, before the connections were
	// closed; SessionClient is the client of each session, including sessions that have ended.
	Nodes         []view.Node
	Sessions      []view.Session
	Watches       []view.Watch
	SessionClient map[int64]string
	// Busy are the clients with scripts that had not ended at the Limit. BusyStacks has a text for
	// each of them, with the stacks of its goroutines at the Limit; it is nil in a real world.
	Busy, BusyStacks []string
	// OutOfSteps says that MaxSteps, or 256 MB of messages to the server, ended the run: scripts
	// may be busy, faults may still be acting, and nothing has settled.
	OutOfSteps bool
	// Runaway, if not nil, ended the run in the same way.
	Runaway *Runaway
	// Strikes are the faults that struck, in order. Missed are the faults of the plan with
	// coordinates that matched nothing.
	Strikes []Strike
	Missed  []fault.Fault
	// HangUps are the connections that clients closed before the server had ended them; nil in a
	// real world.
	HangUps []HangUp
	// Decisions are the choices between messages in a sim.World with a Schedule of Choices.
	Decisions []Decision
	// Dropped says that the sim.Chooser of the World has ended the run.
	Dropped bool
	// Panics names the scripts that panicked, or that ended their goroutine as t.Fatal does, with
	// their stacks.
	Panics []string
	// Leaked are the stacks of goroutines that could not be ended. Frozen are the stacks of a run
	// that had to be given up before it was at rest: then only the Trace up to that point is known.
	// Both are empty in a good run.
	Leaked, Frozen string
	// Scripts has the client of each goroutine that has run a script, by the goroutine's number in
	// Leaked. Clients whose connections the World could not close are missing. It is nil if
	// Leaked is empty, if the run could not be ended, and in a real world.
	Scripts map[int64]string
	// Senders are goroutines that may have sent a request: with sim.World.StackOf those that waited
	// for replies on its connection when it reached the server, and with sim.World.Senders those
	// that began to wait when it was sent. There are several if it may be any of them.
	Senders []Sender
	// Spins says that one of the goroutines of Leaked or Frozen still computes.
	Spins bool
	// Elapsed is the virtual time from start to rest; Steps counts the steps.
	Elapsed time.Duration
	Steps   int64
	// Unanswered counts the writes in a real world of which it is unknown whether the servers have
	// applied them: there is no transaction log, and the connection was lost before the answer.
	Unanswered int
	// Stalled and Down are of a real world only. Stalled is the longest time by which a timer was
	// late or a server took to answer. A run that was stalled for longer than something may take
	// says nothing about it. Down is the longest time that a server was down for a Restart or a
	// failover.
	Stalled, Down time.Duration
	// Diverged says how the nodes differ at the servers of a real ensemble when the run has ended;
	// "" if they do not.
	Diverged string

	messages []pendingMessage
}

// Messages are the messages on all connections, in the order in which they were sent. A real world
// has none. They are made when they are asked for.
func (r *Result) Messages() []Message {
	list := make([]Message, 0, len(r.messages))
	for _, m := range r.messages {
		m.From = r.Step(m.from)
		if m.arrived == 0 {
			m.Lost = true
		} else {
			m.Step = r.Step(m.arrived)
		}
		list = append(list, m.Message)
	}
	return list
}

// A Sender is a goroutine that may have sent a request.
type Sender struct {
	// Message is the index of the request in Messages.
	Message int
	// Goroutine is the actor of the lines that it writes into the trace; it is "" if the code under
	// test has begun it.
	Goroutine string
	Stack     string
}

// A Runaway is code under test that works without end. One of its numbers is not 0.
type Runaway struct {
	// Client is the client of the code, "" if Goroutines is not 0.
	Client string
	// Step is the line of the trace at which it began, or at which the goroutines were counted.
	Step int64
	// Requests counts the requests that the client has sent without a pause, Lines the lines that
	// its script has written at one instant, and Goroutines the goroutines of the run.
	Requests, Lines, Goroutines int
	// Stack is one of the goroutines, with the call by which most of them were begun.
	Stack string
}

// A Strike is a fault that acts.
type Strike struct {
	Fault fault.Fault
	// Client is the client of the request, notification, connection or session; "" stands for all
	// clients.
	Client string
	// Op is the request, or the type of the notification; "" if it came at a time.
	Op, Path string
	Step     int64
}

// RequestPoint is one request as a coordinate for faults.
type RequestPoint struct {
	Client string
	// Number counts the client's requests from 1, over all its connections.
	Number int
	// Conn counts the client's connections from 1. Server is the number of its server, from 1.
	Conn, Server int
	Op, Path     string
	Step         int64
}

// EventPoint is one watch notification as a coordinate for faults.
type EventPoint struct {
	Client string
	// Number counts the client's notifications from 1, over all its connections.
	Number     int
	Type, Path string
	Step       int64
}

// HangUp is the moment from which a client neither sends nor gets anything on a connection, since
// it has closed it.
type HangUp struct {
	Client string
	// Conn counts the client's connections from 1.
	Conn int
	Time time.Duration
}

// Message is a message of a client to the server, or of the server to a client.
type Message struct {
	Client string
	// Conn counts the client's connections from 1.
	Conn int
	// Server is the number of the server of the connection, from 1.
	Server int
	// Up says that the message goes to the server.
	Up bool
	// Op is the operation of a request, "connect" for a handshake, or the type of a notification.
	// It is "" for a reply.
	Op string
	// Sent is the time at which it was sent. From is the line that caused it: for a reply the line
	// of the request, for a notification that of its [EventPoint]. A request is sent right before
	// line From.
	Sent time.Duration
	From int64
	// Step is the line at which it arrived, or at which a fault took it. It is 0 for a message that
	// vanished without a line, or that was under way at the end.
	Step int64
	// Lost says that it never arrived.
	Lost bool
}

// ServerState is the state of one of several servers, from a line on.
type ServerState struct {
	// Server is its number, from 1.
	Server int
	Step   int64
	// Zxid is the last transaction that it has applied.
	Zxid int64
	// Leads says that it is the leader, and Believes that it was and does not know better yet.
	Leads, Believes bool
	// Down: it does not run, or has no leader. Paused: it stands still. CutOff: it does not reach
	// the others. Lags: a fault keeps it from applying what the leader has applied.
	Down, Paused, CutOff, Lags bool
}

// ChangeKind is the kind of a Change.
type ChangeKind string

// The kinds of Change.
const (
	NodeCreated    ChangeKind = "node-created"
	NodeDeleted    ChangeKind = "node-deleted"
	DataChanged    ChangeKind = "data-changed"
	SessionStarted ChangeKind = "session-started"
	SessionEnded   ChangeKind = "session-ended"
)

// Change is one change at the server.
type Change struct {
	Kind ChangeKind
	// Step is a trace line number; see Trace.
	Step int64
	Time time.Duration
	Path string
	Data []byte
	// Zxid is the transaction; Czxid is the transaction that created the node.
	Zxid, Czxid int64
	// Session asked for the change; 0 is the server itself, which ends sessions that expire. Client
	// is the client of the session.
	Session int64
	Client  string
	// Owner is the session that owns the node, if it is ephemeral, or that starts or ends.
	Owner int64
	// Notified counts the watch notifications that the change caused, without
	// those to the session that made it.
	Notified int
}

// NoticeKind is the kind of a Notice.
type NoticeKind string

// The kinds of Notice.
const (
	Disconnected   NoticeKind = "disconnected"
	Connected      NoticeKind = "connected"
	SessionExpired NoticeKind = "session-expired"
	// Paused says that a goroutine of the client is kept from its reply. Resumed says that it goes
	// on.
	Paused  NoticeKind = "paused"
	Resumed NoticeKind = "resumed"
	// Died says that the process of the client has ended.
	Died NoticeKind = "died"
)

// Notice is an event of a session, as the client library reported it.
type Notice struct {
	Client string
	Kind   NoticeKind
	Step   int64
	Time   time.Duration
	// Session is the session that a SessionExpired is about, 0 if it is not known.
	Session int64
}
