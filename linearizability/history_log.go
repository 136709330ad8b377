package linearizability

import (
	"math"
	"time"
)

// never is later than every step.
const never = math.MaxInt64

// znode is one znode from its create to its delete.
type znode struct {
	path, data       string
	czxid, owner     int64
	creator          string // client
	creatorSession   int64
	created, deleted int64 // steps; deleted is never if it still exists
	createdTime      time.Duration
	deletedTime      time.Duration
	withSession      bool   // it was deleted because its session ended
	remover          string // client, "" if the server deleted it
	removerSession   int64
	notified         int // watch notifications that the delete fired
}

func (z *znode) existsAt(step int64) bool { return z.created <= step && step < z.deleted }

// removedBy reports whether a request of the client deleted the znode; the end of a session does
// not count.
func (z *znode) removedBy(client string, session int64) bool {
	if z.deleted == never || z.withSession {
		return false
	}
	return z.remover != "" && z.remover == client ||
		z.remover == "" && z.removerSession != 0 && z.removerSession == session
}

// serverLog is the server's side of a history, by znode and by session.
type serverLog struct {
	known   bool
	znodes  []*znode // in the order of their creates
	ended   map[int64]ServerEvent
	clients map[int64]string // by session
}

// readServer turns the events, which are in step order, into znodes and ends of sessions.
func readServer(events []ServerEvent) serverLog {
	log := serverLog{
		known: events != nil, ended: map[int64]ServerEvent{}, clients: map[int64]string{},
	}
	for _, e := range events {
		log.learnClient(e)
		if e.Kind == SessionEnded {
			log.ended[Subject(e)] = e
		}
	}
	current := map[string]*znode{}
	for _, e := range events {
		switch e.Kind {
		case NodeCreated:
			current[e.Path] = log.create(e)
		case NodeDeleted:
			z := current[e.Path]
			if z == nil { // it is older than the history
				z = &znode{
					path: e.Path, data: e.Data, czxid: e.Czxid, owner: e.Owner,
					created: math.MinInt64,
				}
				log.znodes = append(log.znodes, z)
			}
			delete(current, e.Path)
			log.delete(z, e)
		}
	}
	return log
}

func (log *serverLog) learnClient(e ServerEvent) {
	if e.Client == "" {
		return
	}
	if e.Session != 0 {
		log.clients[e.Session] = e.Client
	} else if e.Kind == SessionStarted || e.Kind == SessionEnded {
		log.clients[Subject(e)] = e.Client
	}
}

func (log *serverLog) clientOf(e ServerEvent) string {
	if e.Client != "" || e.Session == 0 {
		return e.Client
	}
	return log.clients[e.Session]
}

func (log *serverLog) create(e ServerEvent) *znode {
	z := &znode{
		path: e.Path, data: e.Data, czxid: e.Czxid, owner: e.Owner,
		created: e.Step, createdTime: e.Time, deleted: never,
		creator: log.clientOf(e), creatorSession: e.Session,
	}
	if z.czxid == 0 {
		z.czxid = e.Zxid
	}
	log.znodes = append(log.znodes, z)
	return z
}

func (log *serverLog) delete(z *znode, e ServerEvent) {
	z.deleted, z.deletedTime, z.notified = e.Step, e.Time, e.Notified
	z.remover, z.removerSession = log.clientOf(e), e.Session
	end, ended := log.ended[z.owner]
	z.withSession = z.owner != 0 && ended && end.Step <= e.Step &&
		(e.Session == 0 || e.Step == end.Step)
	if e.Session == 0 {
		z.remover = ""
	}
}

// sessionEnd returns the step and time at which the session ended, or never.
func (log *serverLog) sessionEnd(session int64) (int64, time.Duration) {
	if e, ok := log.ended[session]; ok && session != 0 {
		return e.Step, e.Time
	}
	return never, 0
}
