package carry

import "time"

// An Action is something that the driver has to do. The actions of a list are
// carried out in their order.
type Action struct {
	Do Do
	// Conn is nil for a Crash, Lag, Isolate or Failover, and for an Expire, Restart or Struck
	// without a message.
	Conn    *Conn
	Message *Message // of Struck, Pause, Apply, Deliver and Send
	// Fault is the fault that acts: of Struck, Pause, Expire, Restart, Crash, Lag, Isolate and
	// Failover; of an Apply, the one that damages the reply, or nil.
	Fault *Armed
	// Err is the client's error after an End or a Reset.
	Err error
	// Up says of a Later which lane is meant.
	Up bool
	// Client selects the sessions that an Expire without Conn ends; 0 means all clients.
	Client int64
	// Late is how long the ephemerals stay after an Expire.
	Late time.Duration
	// Server is the number of the server of a Restart, Lag or Isolate.
	Server int
	// Taken says of a Struck that the request goes no further.
	Taken bool
	// At is when a Later, Pause, Lag or Isolate ends, and when the server of a Restart or Failover
	// is back.
	At time.Duration
}

// Do is the kind of an Action.
type Do int

// The kinds of Action.
const (
	// Struck: a fault has acted for the first time. It comes before the effect if the fault acts on
	// a message, and after it otherwise.
	Struck Do = iota
	// Apply: the server handles the message. The server's output on the same connection goes
	// through FromServer with the Fault, and Applied follows.
	Apply
	// Pause: the caller who waits for the reply to the request gets it at At.
	Pause
	// Deliver: the client gets the message.
	Deliver
	// Send: the message begins its way to the client; QueueDown takes it.
	Send
	// Later: the first message of a lane was put back and may be delivered from At on.
	Later
	// Sever: the server finds the connection closed.
	Sever
	// Hang: the server forgets the connection, as if it had not been made yet.
	Hang
	// Admit: a connection that hung is made now.
	Admit
	// End: the connection is over, and the client finds Err behind the bytes it got.
	End
	// Reset: the connection is over for both ends at once, and the client finds Err.
	Reset
	// Forget: the connection is over; the client has closed it.
	Forget
	// Unheard: the client has closed the connection, and the server does not hear it.
	Unheard
	// Vanish: from now on the connection is in a black hole.
	Vanish
	// Expire: the server ends the session of Conn, or the sessions of Client.
	Expire
	// Restart: the server goes down and is back at At. It forgets its connections.
	Restart
	// Crash: the process of Client dies, or those of all clients if 0. A Respawn begins anew at At.
	Crash
	// Lag: the server applies no change until At.
	Lag
	// Isolate: the server does not reach the others until At.
	Isolate
	// Failover: the leader goes down and is back at At.
	Failover
)
