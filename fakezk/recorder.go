package fakezk

import (
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/view"
)

// recorder writes down what happens at a server: in the log of Options.Logger, and in the trace of
// Options.Trace.
type recorder struct {
	log     *eventLog // nil without Options.Logger
	history *history  // nil without Options.Trace
	names   *sessionNames
}

func newRecorder(opts Options, now time.Time, names *sessionNames) *recorder {
	return &recorder{
		log: newEventLog(opts.Logger), history: newHistory(opts.Trace, now), names: names,
	}
}

// takes reports whether the log or the trace takes events of a level.
func (r *recorder) takes(level slog.Level) bool { return r.history != nil || r.log.on(level) }

// note adds an event to the log and the trace.
func (r *recorder) note(level slog.Level, message string, attrs ...slog.Attr) {
	r.log.add(level, message, attrs...)
	if r.history != nil {
		r.history.addEvent(message, attrs)
	}
}

// call adds a call of a method of the server, such as "put".
func (r *recorder) call(op, path, format string, args ...any) {
	if r.history != nil {
		r.history.add(view.Record{
			Kind: view.CallRecord, Op: op, Path: path,
			Text: strings.TrimSuffix("call: "+op+" "+path+fmt.Sprintf(format, args...), " "),
		})
	}
}

// sessionsText names the sessions of a call.
func (r *recorder) sessionsText(sessions []int64) string {
	if len(sessions) == 0 {
		return "all"
	}
	names := make([]string, len(sessions))
	for i, id := range sessions {
		if names[i] = r.names.name(id); names[i] == "" {
			names[i] = hexText(id)
		}
	}
	return strings.Join(names, ", ")
}

// request notes a request that the server has handled, or could not.
func (r *recorder) request(l *link, req *engine.Request) {
	switch {
	case req.Handshake:
		return
	case req.Body == nil:
		r.malformed(l, req)
	case r.history != nil && req.Header.Op != proto.OpPing:
		sent, read := tracetext.Request(*req).ZnodeData() // one of them at most
		r.history.add(view.Record{
			Data: append(dataOf(sent), dataOf(read)...),
			Kind: view.RequestRecord, Session: l.name, Op: req.Header.Op.String(),
			Path: proto.PathOf(req.Body), Text: "-> " + tracetext.Request(*req).String(),
		})
	}
	if req.TooLarge {
		r.note(slog.LevelInfo, req.Header.Op.String()+" refused", append(l.sessionAttrs(),
			slog.String("why", "its reply would have more than 64 MiB"))...)
	}
}

// malformed notes a frame that is no request.
func (r *recorder) malformed(l *link, req *engine.Request) {
	switch {
	case req.Session != 0:
		r.garbage(l, fmt.Sprintf("xid %d: %s that cannot be read", req.Header.Xid, req.Header.Op))
	case req.Silent:
		r.garbage(l, "no request header")
	}
}

// garbage notes bytes that cannot be read.
func (r *recorder) garbage(l *link, why string) {
	if r.takes(slog.LevelInfo) {
		r.note(slog.LevelInfo, "malformed frame",
			append(l.sessionAttrs(), slog.String("why", why))...)
	}
}

// notification notes a notification on its way to a session.
func (r *recorder) notification(l *link, event *proto.WatcherEvent) {
	if r.history != nil {
		r.history.add(view.Record{
			Kind: view.NotificationRecord, Session: l.name, Op: event.Type.String(),
			Path: event.Path, Text: "<- " + tracetext.Event(*event).String(),
		})
	}
}

// applied notes the sessions that have ended. They still have their names.
func (r *recorder) applied(list []engine.Applied) {
	if len(list) == 0 || !r.takes(slog.LevelInfo) {
		return
	}
	for i := range list {
		txn := &list[i].Txn
		name := r.names.name(txn.Session)
		if txn.Op != proto.OpCloseSession || name == "" {
			continue
		}
		why := "closed"
		if list[i].ByServer {
			why = "expired"
		}
		r.note(slog.LevelInfo, "session ends", slog.String(sessionKey, name), idAttr(txn.Session),
			slog.String("why", why))
	}
}

// handshake notes how a handshake went.
func (r *recorder) handshake(l *link, frame []byte, store *state.Store) {
	switch {
	case l.number > 1:
		r.note(slog.LevelDebug, "session connected again", l.sessionAttrs()...)
	case !r.takes(slog.LevelInfo):
	case l.name == "":
		r.refusal(l, frame, store.LastZxid())
	default:
		info, _ := store.Session(l.session) // it has just begun
		timeout := time.Duration(info.TimeoutMs) * time.Millisecond
		r.note(slog.LevelInfo, "session begins",
			append(l.sessionAttrs(), slog.Duration("timeout", timeout))...)
	}
}

// refusal notes why a handshake was refused. A client that has seen a higher zxid than the
// server's, after the restart of a server that keeps no data, tries for ever.
func (r *recorder) refusal(l *link, frame []byte, last int64) {
	req, err := wire.DecodeConnectRequest(frame)
	attrs := []slog.Attr{l.addrAttr()}
	switch {
	case err != nil:
		attrs = append(attrs, slog.String("why", err.Error()))
	case req.LastZxidSeen > last:
		attrs = append(attrs,
			slog.String("why", "the client has seen a higher zxid than the server's"),
			slog.String("seen", hexText(req.LastZxidSeen)), slog.String("last", hexText(last)))
	case r.names.name(req.SessionID) == "":
		attrs = append(attrs, idAttr(req.SessionID), slog.String("why", "no such session"))
	default:
		attrs = append(attrs, idAttr(req.SessionID),
			slog.String("why", "wrong password, or the session is about to end"))
	}
	r.note(slog.LevelInfo, "handshake refused", attrs...)
}

// refusedConn notes a connection beyond Options.MaxClientConns.
func (r *recorder) refusedConn(from peer, err error) {
	addr := net.JoinHostPort(from.ip, strconv.Itoa(from.port))
	r.note(slog.LevelInfo, "connection refused", slog.String("addr", addr),
		slog.String("why", strings.TrimPrefix(err.Error(), "fakezk: ")))
}

// lost notes that a live session has lost its connection.
func (r *recorder) lost(l *link) {
	if l.name != "" && r.takes(slog.LevelDebug) && r.names.name(l.session) == l.name {
		r.note(slog.LevelDebug, "session without connection", l.sessionAttrs()...)
	}
}

// faultMessage is the message of a fault that acts.
const faultMessage = "fault"

// fault notes that a fault acts for the first time.
func (r *recorder) fault(f *carry.Armed) {
	r.note(slog.LevelInfo, faultMessage, slog.String("line", f.Fault.String()))
}
