package carry

import "time"

// A Driver does what a Network cannot do by itself. A driver in which an action has no effect has
// an empty method, and says why.
type Driver interface {
	// FaultDue: the time of a fault has come, which may find nothing to act on.
	FaultDue(f *Armed)
	// Target is the client on whose connections and sessions a fault acts at its time, 0 for all
	// clients. It is not ok if there is no such client now: then the fault misses.
	Target(f *Armed) (client int64, ok bool)
	// Struck: a fault has acted for the first time, at its time or on a dial.
	Struck(f *Armed)
	// Hit: a fault acts on a message, for the first time. Taken says that the message goes no
	// further. The effect comes next.
	Hit(c *Conn, m *Message, f *Armed, taken bool)

	// Apply: the server handles the message, or answers it with its Refusal. The output on the same
	// connection goes through FromServer with the fault, which damages the reply or is nil, and
	// Applied follows.
	Apply(c *Conn, m *Message, f *Armed)
	// Pause: the caller that waits for the reply to the request gets it at a time.
	Pause(c *Conn, m *Message, f *Armed, until time.Duration)
	// Send: the message begins its way to the client; QueueDown takes it.
	Send(c *Conn, m *Message)
	// Deliver: the client gets the message.
	Deliver(c *Conn, m *Message)
	// Later: the first message of the lane up or down was put back. It may be delivered at a time.
	Later(c *Conn, up bool, at time.Duration)

	// Hang: the server forgets the connection, as if it had not been made yet.
	Hang(c *Conn)
	// Admit: a connection that hung is made now.
	Admit(c *Conn)
	// Sever: the server finds the connection closed.
	Sever(c *Conn)
	// End: the connection is over, and the client finds the error behind the bytes it got.
	End(c *Conn, err error)
	// Reset: the connection is over for both ends at once, and the client finds the error.
	Reset(c *Conn, err error)
	// Forget: the connection is over; the client has closed it.
	Forget(c *Conn)
	// Unheard: the client has closed the connection, and the server does not hear it.
	Unheard(c *Conn)
	// Vanish: from now on the connection is in a black hole.
	Vanish(c *Conn)

	// ExpireOn: the session of the connection ends, and its ephemerals go so much later.
	ExpireOn(c *Conn, late time.Duration)
	// Sessions are those of a client, or of all clients if 0.
	Sessions(client int64) []int64
	// Expire ends a session likewise, and reports whether it was alive.
	Expire(session int64, late time.Duration) bool
	// Crash: the process of a client dies, or those of all clients if 0. Fired follows for each.
	// After a Respawn it begins anew at a time.
	Crash(client int64, f *Armed, until time.Duration)

	// Restart: the server goes down and is back at a time. It forgets its connections.
	Restart(server int, f *Armed, until time.Duration)
	// Elect: the servers elect a leader, who serves from a time on. All connections end.
	Elect(f *Armed, until time.Duration)
	// Failover: the leader has gone down, and is back at a time.
	Failover(f *Armed, until time.Duration)
	// Lag: the server applies no change until a time.
	Lag(server int, f *Armed, until time.Duration)
	// Down: the server goes down. It forgets what it has not told the leader, and is no more apart.
	// Its connections end next.
	Down(server int)
	// Isolate: the server does not reach the others until a time.
	Isolate(server int, f *Armed, until time.Duration)
	// PauseServer: the server stands still until a time.
	PauseServer(server int, f *Armed, until time.Duration)
}

// An Action is something that a driver has to do.
type Action interface{ perform(d Driver) }

// act is an Action of any kind. The three below are those of nearly every message, and take no
// memory of their own.
type act func(Driver)

func (do act) perform(d Driver) { do(d) }

// applied, delivered and sent are a message to be applied without a fault, delivered or sent on its
// connection.
type (
	applied   Message
	delivered Message
	sent      Message
)

func (m *applied) perform(d Driver)   { d.Apply(m.conn, (*Message)(m), nil) }
func (m *delivered) perform(d Driver) { d.Deliver(m.conn, (*Message)(m)) }
func (m *sent) perform(d Driver)      { d.Send(m.conn, (*Message)(m)) }

// Perform lets a driver carry out actions in their order.
func Perform(actions []Action, d Driver) {
	for _, a := range actions {
		a.perform(d)
	}
}
