package judging

import (
	"cmp"
	"math"
	"time"

	lin "github.com/zksim/zksim/linearizability"
)

// Never is later than every step.
const Never = math.MaxInt64

// Znode is one znode from its create to its delete.
type Znode struct {
	Path, Data       string
	Czxid, Owner     int64
	Creator          string // client
	CreatorSession   int64
	Created, Deleted int64 // steps; deleted is never if it still exists
	CreatedTime      time.Duration
	DeletedTime      time.Duration
	WithSession      bool   // it was deleted because its session ended
	Remover          string // client, "" if the server deleted it
	Why              string // why the server deleted it, if it has no session and that is known
	RemoverSession   int64
	Notified         int // watch notifications that the delete fired
}

func (z *Znode) ExistsAt(step int64) bool { return z.Created <= step && step < z.Deleted }

// RemovedBy reports whether a request of the client deleted the znode; the end of a session does
// not count.
func (z *Znode) RemovedBy(client string, session int64) bool {
	if z.Deleted == Never || z.WithSession {
		return false
	}
	return z.Remover != "" && z.Remover == client ||
		z.Remover == "" && z.RemoverSession != 0 && z.RemoverSession == session
}

// RemovedByServer reports whether no client's request deleted the znode.
func (z *Znode) RemovedByServer() bool {
	return z.Deleted != Never && z.Remover == "" && z.RemoverSession == 0
}

// EndedWithSession reports whether the znode was deleted because its session ended. The server
// itself deletes an ephemeral for no other reason.
func (z *Znode) EndedWithSession() bool {
	return z.WithSession || z.Owner != 0 && z.RemovedByServer()
}

// RemovedByWhom names the client or the session that deleted the znode, or the server.
func (z *Znode) RemovedByWhom() string {
	switch {
	case z.RemovedByServer() && z.Why != "":
		return "the server (" + z.Why + ")"
	case z.RemovedByServer() && z.WithSession:
		return "the server (its session ended)"
	case z.RemovedByServer():
		return "the server"
	}
	return cmp.Or(z.Remover, Session(z.RemoverSession))
}

// Log is the server's side of a history, by znode and by session.
type Log struct {
	Known   bool
	Znodes  []*Znode // in the order of their creates
	ended   map[int64]lin.ServerEvent
	Clients map[int64]string // by session
}

// ReadLog turns the events, which are in step order, into znodes and ends of sessions.
func ReadLog(events []lin.ServerEvent) Log {
	log := Log{
		Known: events != nil, ended: map[int64]lin.ServerEvent{}, Clients: map[int64]string{},
	}
	for _, e := range events {
		log.learnClient(e)
		if e.Kind == lin.SessionEnded {
			log.ended[Subject(e)] = e
		}
	}
	current := map[string]*Znode{}
	for _, e := range events {
		switch e.Kind {
		case lin.NodeCreated:
			current[e.Path] = log.create(e)
		case lin.NodeDeleted:
			z := current[e.Path]
			if z == nil { // it is older than the history
				z = &Znode{
					Path: e.Path, Data: e.Data, Czxid: e.Czxid, Owner: e.Owner,
					Created: math.MinInt64,
				}
				log.Znodes = append(log.Znodes, z)
			}
			delete(current, e.Path)
			log.delete(z, e)
		}
	}
	return log
}

func (log *Log) learnClient(e lin.ServerEvent) {
	if e.Client == "" {
		return
	}
	if e.Session != 0 {
		log.Clients[e.Session] = e.Client
	} else if e.Kind == lin.SessionStarted || e.Kind == lin.SessionEnded {
		log.Clients[Subject(e)] = e.Client
	}
}

func (log *Log) clientOf(e lin.ServerEvent) string {
	if e.Client != "" || e.Session == 0 {
		return e.Client
	}
	return log.Clients[e.Session]
}

func (log *Log) create(e lin.ServerEvent) *Znode {
	z := &Znode{
		Path: e.Path, Data: e.Data, Czxid: e.Czxid, Owner: e.Owner,
		Created: e.Step, CreatedTime: e.Time, Deleted: Never,
		Creator: log.clientOf(e), CreatorSession: e.Session,
	}
	if z.Czxid == 0 {
		z.Czxid = e.Zxid
	}
	log.Znodes = append(log.Znodes, z)
	return z
}

func (log *Log) delete(z *Znode, e lin.ServerEvent) {
	z.Deleted, z.DeletedTime, z.Notified = e.Step, e.Time, e.Notified
	z.Remover, z.RemoverSession, z.Why = log.clientOf(e), e.Session, e.Why
	end, ended := log.ended[z.Owner]
	z.WithSession = z.Owner != 0 && ended && end.Step <= e.Step &&
		(e.Session == 0 || e.Step == end.Step)
	if e.Session == 0 {
		z.Remover = ""
	}
}

// SessionEnd returns the step and time at which the session ended, or never.
func (log *Log) SessionEnd(session int64) (int64, time.Duration) {
	if e, ok := log.ended[session]; ok && session != 0 {
		return e.Step, e.Time
	}
	return Never, 0
}
