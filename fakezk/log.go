package fakezk

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// maxLogLines is the greatest number of lines that wait for Options.Logger.
const maxLogLines = 1024

// eventLog writes the events of a server to Options.Logger. Lines are added under the server's
// mutex; only the eventLog's own goroutine waits for the logger. A nil eventLog takes no lines.
type eventLog struct {
	to      *slog.Logger
	lines   chan slog.Record
	dropped int           // since the last line that found room
	ended   bool          // no line is taken any more
	drained chan struct{} // closed when all lines are handed over
}

// newEventLog starts the goroutine that hands lines to the logger; end and wait stop it.
func newEventLog(to *slog.Logger) *eventLog {
	if to == nil {
		return nil
	}
	l := &eventLog{to: to, lines: make(chan slog.Record, maxLogLines), drained: make(chan struct{})}
	go l.drain()
	return l
}

func (l *eventLog) drain() {
	defer close(l.drained)
	for line := range l.lines {
		l.deliver(line)
	}
	if l.dropped > 0 {
		l.deliver(l.droppedNotice())
	}
}

// deliver hands a line to the logger. It ignores the error, as slog.Logger does.
func (l *eventLog) deliver(line slog.Record) {
	_ = l.to.Handler().Handle(context.Background(), line)
}

// end takes in no more lines. The server's mutex is held.
func (l *eventLog) end() {
	if l != nil && !l.ended {
		l.ended = true
		close(l.lines)
	}
}

// wait returns when all lines are handed over. The server's mutex is not held.
func (l *eventLog) wait() {
	if l != nil {
		<-l.drained
	}
}

// on says whether lines of a level are wanted.
func (l *eventLog) on(level slog.Level) bool {
	return l != nil && !l.ended && l.to.Enabled(context.Background(), level)
}

// add queues a line, or counts it as dropped. One line with their number takes the place of the
// dropped lines.
func (l *eventLog) add(level slog.Level, message string, attrs ...slog.Attr) {
	if !l.on(level) {
		return
	}
	if l.dropped > 0 && l.offer(l.droppedNotice()) {
		l.dropped = 0
	}
	line := slog.NewRecord(time.Now(), level, message, 0)
	line.AddAttrs(attrs...)
	if l.dropped > 0 || !l.offer(line) {
		l.dropped++
	}
}

func (l *eventLog) offer(line slog.Record) bool {
	select {
	case l.lines <- line:
		return true
	default:
		return false
	}
}

// droppedNotice stands for the lines that were dropped.
func (l *eventLog) droppedNotice() slog.Record {
	line := slog.NewRecord(time.Now(), slog.LevelWarn, "log lines dropped", 0)
	line.AddAttrs(slog.Int("lines", l.dropped))
	return line
}

// logs says whether the log or the trace takes events of a level.
func (s *Server) logs(level slog.Level) bool { return s.history != nil || s.log.on(level) }

// note adds an event to the log and the trace.
func (s *Server) note(level slog.Level, message string, attrs ...slog.Attr) {
	s.log.add(level, message, attrs...)
	if s.history != nil {
		s.history.addEvent(message, attrs)
	}
}

// noteApplied notes the sessions that began and ended.
func (s *Server) noteApplied(applied []engine.Applied) {
	if len(applied) > 0 && s.logs(slog.LevelInfo) {
		for i := range applied {
			s.logEnd(&applied[i])
		}
	}
	s.names.note(applied)
}

func (s *Server) logEnd(a *engine.Applied) {
	name := s.names.name(a.Txn.Session)
	if a.Txn.Op != proto.OpCloseSession || name == "" {
		return
	}
	why := "closed"
	if a.ByServer {
		why = "expired"
	}
	s.note(slog.LevelInfo, "session ends", slog.String(sessionKey, name), idAttr(a.Txn.Session),
		slog.String("why", why))
}

// logHandshake logs how a handshake went.
func (s *Server) logHandshake(l *serverLink, frame []byte) {
	switch {
	case l.name == "":
		s.logRefusal(l, frame)
	case l.number > 1:
		s.note(slog.LevelDebug, "session connected again", l.sessionAttrs()...)
	case s.logs(slog.LevelInfo):
		info, _ := s.engine.Store().Session(l.session) // it has just begun
		timeout := time.Duration(info.TimeoutMs) * time.Millisecond
		s.note(slog.LevelInfo, "session begins",
			append(l.sessionAttrs(), slog.Duration("timeout", timeout))...)
	}
}

// logRefusal logs why a handshake was refused. A client that has seen a higher zxid
// than the server's, after the restart of a server that keeps no data, tries for ever.
func (s *Server) logRefusal(l *serverLink, frame []byte) {
	if !s.logs(slog.LevelInfo) {
		return
	}
	req, err := wire.DecodeConnectRequest(frame)
	last := s.engine.Store().LastZxid()
	attrs := []slog.Attr{l.addrAttr()}
	switch {
	case err != nil:
		attrs = append(attrs, slog.String("why", err.Error()))
	case req.LastZxidSeen > last:
		attrs = append(attrs,
			slog.String("why", "the client has seen a higher zxid than the server's"),
			slog.String("seen", hexText(req.LastZxidSeen)), slog.String("last", hexText(last)))
	case s.names.name(req.SessionID) == "":
		attrs = append(attrs, idAttr(req.SessionID), slog.String("why", "no such session"))
	default:
		attrs = append(attrs, idAttr(req.SessionID),
			slog.String("why", "wrong password, or the session is about to end"))
	}
	s.note(slog.LevelInfo, "handshake refused", attrs...)
}

// logRefusedConn logs a connection beyond Options.MaxClientConns.
func (s *Server) logRefusedConn(from peer, err error) {
	addr := net.JoinHostPort(from.ip, strconv.Itoa(from.port))
	s.note(slog.LevelInfo, "connection refused", slog.String("addr", addr),
		slog.String("why", strings.TrimPrefix(err.Error(), "fakezk: ")))
}

// logLost logs that a live session has lost its connection.
func (s *Server) logLost(l *serverLink) {
	if l.name != "" && s.logs(slog.LevelDebug) && s.names.name(l.session) == l.name {
		s.note(slog.LevelDebug, "session without connection", l.sessionAttrs()...)
	}
}

// logGarbage logs bytes that are no frame.
func (s *Server) logGarbage(l *serverLink, err error) {
	if s.logs(slog.LevelInfo) {
		s.note(slog.LevelInfo, "malformed frame",
			append(l.sessionAttrs(), slog.String("why", err.Error()))...)
	}
}

// logMalformed logs a frame that is no request.
func (s *Server) logMalformed(l *serverLink, r engine.Request) {
	if r.Handshake || r.Body != nil || r.Session == 0 && !r.Silent || !s.logs(slog.LevelInfo) {
		return
	}
	why := "no request header"
	if r.Session != 0 {
		why = fmt.Sprintf("xid %d: %s that cannot be read", r.Header.Xid, r.Header.Op)
	}
	s.note(
		slog.LevelInfo, "malformed frame", append(l.sessionAttrs(), slog.String("why", why))...,
	)
}

// logTooLarge logs that a multiRead was refused.
func (s *Server) logTooLarge(l *serverLink, r engine.Request) {
	if r.TooLarge {
		s.note(slog.LevelInfo, "multiRead refused", append(l.sessionAttrs(),
			slog.String("why", "its reply would have more than 64 MiB"))...)
	}
}

// faultMessage is the message of a fault that acts.
const faultMessage = "fault"

// logFault logs that a fault acts for the first time.
func (s *Server) logFault(f *carry.Armed) {
	s.note(slog.LevelInfo, faultMessage, slog.String("line", f.Fault.String()))
}

// sessionKey is the key of an attribute that names a session.
const sessionKey = "session"

// sessionAttrs are a link's session, if it has one, and its address.
func (l *serverLink) sessionAttrs() []slog.Attr {
	if l.name == "" {
		return []slog.Attr{l.addrAttr()}
	}
	return []slog.Attr{slog.String(sessionKey, l.name), idAttr(l.session), l.addrAttr()}
}

func (l *serverLink) addrAttr() slog.Attr { return slog.String("addr", l.address()) }

func idAttr(session int64) slog.Attr { return slog.String("id", hexText(session)) }

func hexText(n int64) string { return fmt.Sprintf("0x%x", uint64(n)) }
