package linearizability

import (
	"cmp"
	"math"
	"time"
)

// never is later than every step.
const never = math.MaxInt64

func compare(a, b int64) int { return cmp.Compare(a, b) }

// life is one znode from its create to its delete.
type life struct {
	path, data     string
	czxid, owner   int64
	creator        string // client
	creatorSession int64
	born, died     int64 // died is never if it still lives
	bornTime       time.Duration
	diedTime       time.Duration
	withSession    bool   // it went because its session ended
	remover        string // client
	removerSession int64
	notified       int // by the delete
}

func (l *life) aliveAt(step int64) bool { return l.born <= step && step < l.died }

// serverLog is the server's side of a history, by znode and by session.
type serverLog struct {
	known   bool
	lives   []*life // in the order of their creates
	ended   map[int64]ServerEvent
	clients map[int64]string
}

// readServer turns the events, in step order, into lives of znodes and ends of
// sessions.
func readServer(events []ServerEvent) serverLog {
	log := serverLog{known: len(events) > 0, ended: map[int64]ServerEvent{}, clients: map[int64]string{}}
	for _, e := range events {
		log.learnClient(e)
		if e.Kind == SessionEnded {
			log.ended[e.subject()] = e
		}
	}
	current := map[string]*life{}
	for _, e := range events {
		switch e.Kind {
		case NodeCreated:
			l := &life{path: e.Path, data: e.Data, czxid: e.Czxid, owner: e.Owner, born: e.Step, bornTime: e.Time, died: never,
				creator: log.clientOf(e), creatorSession: e.Session}
			if l.czxid == 0 {
				l.czxid = e.Zxid
			}
			current[e.Path] = l
			log.lives = append(log.lives, l)
		case NodeDeleted:
			l := current[e.Path]
			if l == nil { // older than the history
				l = &life{path: e.Path, data: e.Data, czxid: e.Czxid, owner: e.Owner, born: math.MinInt64}
				log.lives = append(log.lives, l)
			}
			delete(current, e.Path)
			log.bury(l, e)
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
		log.clients[e.subject()] = e.Client
	}
}

func (log *serverLog) clientOf(e ServerEvent) string {
	if e.Client != "" || e.Session == 0 {
		return e.Client
	}
	return log.clients[e.Session]
}

func (log *serverLog) bury(l *life, e ServerEvent) {
	l.died, l.diedTime, l.notified = e.Step, e.Time, e.Notified
	l.remover, l.removerSession = log.clientOf(e), e.Session
	end, ended := log.ended[l.owner]
	l.withSession = l.owner != 0 && ended && end.Step <= e.Step && (e.Session == 0 || e.Step == end.Step)
	if e.Session == 0 {
		l.remover = ""
	}
}

// sessionEnd returns the step and time at which the session ended, or never.
func (log *serverLog) sessionEnd(session int64) (int64, time.Duration) {
	if e, ok := log.ended[session]; ok && session != 0 {
		return e.Step, e.Time
	}
	return never, 0
}

// removedBy reports whether the client itself deleted the znode, by a request
// and not by the end of its session.
func (l *life) removedBy(client string, session int64) bool {
	if l.died == never || l.withSession {
		return false
	}
	return l.remover != "" && l.remover == client ||
		l.remover == "" && l.removerSession != 0 && l.removerSession == session
}
