package tracetext

import (
	"fmt"
	"io"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/trace"
)

// A Request is a request with its result at the server. A Reply is the reply as the client gets it,
// and an Event a notification. They become text when the trace is read.
type (
	Request engine.Request
	Reply   engine.Request
	Event   proto.WatcherEvent
)

func (r Request) String() string {
	return RequestWords(engine.Request(r)) + ": " + outcomeText(engine.Request(r))
}

// ZnodeData is the data of a znode that the request carries, and that its answer does.
func (r Request) ZnodeData() (sent, read []byte) {
	switch b := r.Body.(type) {
	case *proto.Create:
		sent = b.Data
	case *proto.SetData:
		sent = b.Data
	}
	if reply, ok := r.Reply.(proto.DataReply); ok {
		read = reply.Data
	}
	return sent, read
}

func (r Reply) String() string { return replyText(engine.Request(r)) }

func (e Event) String() string { return fmt.Sprintf("event %s %s", e.Type, e.Path) }

// Session is a session's id.
func Session(id int64) string { return fmt.Sprintf("0x%016x", uint64(id)) }

// RequestWords returns the operation and arguments of a request.
func RequestWords(r engine.Request) string {
	switch b := r.Body.(type) {
	case *proto.Create:
		return fmt.Sprintf("%s%s %s", b.Op(), flagText(b.Flags), b.Path)
	case *proto.Multi:
		parts := make([]string, len(b.Ops))
		for i, op := range b.Ops {
			parts[i] = op.Op().String() + " " + proto.PathOf(op)
		}
		return "multi (" + strings.Join(parts, ", ") + ")"
	case *proto.Exists:
		return "exists" + watchText(b.Watch) + " " + b.Path
	case *proto.GetData:
		return "getData" + watchText(b.Watch) + " " + b.Path
	case *proto.GetChildren:
		return b.Op().String() + watchText(b.Watch) + " " + b.Path
	case *proto.SetWatches:
		return fmt.Sprintf("setWatches since zxid %d: data %v, exist %v, child %v",
			b.RelativeZxid, b.DataWatches, b.ExistWatches, b.ChildWatches)
	case nil:
		return r.Header.Op.String() + " (undecodable)"
	}
	return strings.TrimSuffix(fmt.Sprintf("%s %s", r.Header.Op, proto.PathOf(r.Body)), " ")
}

func watchText(watch bool) string {
	if watch {
		return "+watch"
	}
	return ""
}

func flagText(flags int32) string {
	names := []string{"", " ephemeral", " sequential", " ephemeral sequential",
		" container", " ttl", " ttl sequential"}
	if flags >= 0 && int(flags) < len(names) {
		return names[flags]
	}
	return fmt.Sprintf(" flags(%d)", flags)
}

// outcomeText is how a request ended at the server.
func outcomeText(r engine.Request) string {
	zxid := fmt.Sprintf("zxid %d", r.Zxid)
	if r.Err != proto.OK {
		return fmt.Sprintf("%s, %s", r.Err, zxid)
	}
	switch b := r.Reply.(type) {
	case proto.PathReply:
		if r.Header.Op != proto.OpSync {
			return fmt.Sprintf("ok %s, %s", b.Path, zxid)
		}
	case proto.ChildrenReply:
		return fmt.Sprintf("ok %v, %s", b.Names, zxid)
	case proto.ChildrenStatReply:
		return fmt.Sprintf("ok %v, %s", b.Names, zxid)
	case proto.MultiReply:
		return multiText(b) + ", " + zxid
	}
	return "ok, " + zxid
}

func multiText(b proto.MultiReply) string {
	for _, res := range b.Results {
		if res.Err != proto.OK && res.Err != proto.RuntimeInconsistency {
			return "failed, " + res.Err.String()
		}
	}
	return "ok"
}

// replyText is the text of the trace for the arrival of a reply.
func replyText(r engine.Request) string {
	switch {
	case r.Handshake && r.Session == 0:
		return "connect: refused, session expired"
	case r.Handshake:
		return "connect: session " + Session(r.Session)
	case r.Body == nil:
		return fmt.Sprintf("%s: %s", r.Header.Op, r.Err)
	}
	text := r.Err.String()
	if m, ok := r.Reply.(proto.MultiReply); ok {
		text = multiText(m)
	}
	return fmt.Sprintf("%s: %s", r.Header.Op, text)
}

// Change is a change at the server.
func Change(c trace.Change) string {
	var text string
	switch c.Kind {
	case trace.NodeCreated:
		text = "created " + c.Path
	case trace.NodeDeleted:
		text = "deleted " + c.Path
	case trace.DataChanged:
		text = "changed " + c.Path
	case trace.SessionStarted:
		text = "session " + Session(c.Owner) + " starts"
	case trace.SessionEnded:
		text = "session " + Session(c.Owner) + " ends"
	}
	if c.Notified > 0 {
		text += fmt.Sprintf(", notifies %d others", c.Notified)
	}
	return text
}

// Exited is the trouble of a script that has ended its goroutine.
const Exited = "the script ended its goroutine (runtime.Goexit, as t.Fatal does) " +
	"instead of returning"

// End is how a connection ended for its client.
func End(err error) string {
	if err == io.EOF {
		return "closed by the server"
	}
	return "reset"
}
