package conform

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// A view formats the frames of a server as text that can be compared with another
// server's. It replaces the values that differ between two servers: a session's id by the
// session's name or the distance to the id before, a zxid by the distance to the start of
// the script, and a time by its error.
type view struct {
	start  int64            // the server's last zxid when the script began
	names  map[int64]string // sessions by id
	newest int64            // the last session's id
	clock  clock
}

func newView(start int64, c clock) view {
	return view{start: start, names: map[int64]string{}, clock: c}
}

// sent is a request without an answer so far.
type sent struct {
	xid int32
	op  proto.OpCode
}

// frame returns one frame as text, and its xid. It removes the answered request from pending.
func (v *view) frame(payload []byte, pending *[]sent) (line string, xid int32) {
	h, body, err := wire.DecodeReplyHeader(payload)
	if err != nil {
		return fmt.Sprintf("a frame of % x", payload), 0
	}
	if h.Xid == -1 && h.Zxid == -1 {
		if line, ok := v.event(h, body); ok {
			return line, h.Xid
		}
	}
	// The protocol version at its start would be an xid of 0.
	resp, ok := connectResponse(payload)
	if ok && v.names[resp.SessionID] != "" {
		creates := func(s sent) bool { return s.op == proto.OpCreateSession }
		if _, asked := first(pending, creates); asked {
			return v.connectedAgain(resp), 0
		}
	}
	asked, known := first(pending, func(s sent) bool { return s.xid == h.Xid })
	if !known {
		asked.op = proto.OpPing
	}
	name := asked.op.String()
	if !known && h.Xid != markerXid {
		name = "nothing asked"
	}
	line = fmt.Sprintf("%s: xid %d, zxid %s, %s", name, h.Xid, v.lastZxid(h.Zxid), h.Err)
	return line + v.body(asked.op, h, body), h.Xid
}

func (v *view) event(h proto.ReplyHeader, body []byte) (string, bool) {
	ev, err := wire.DecodeEvent(body)
	if err != nil || !bytes.Equal(wire.AppendEvent(nil, ev)[4+16:], body) {
		return "", false
	}
	return fmt.Sprintf("event %s %s, state %d, %s", ev.Type, show(ev.Path), ev.State, h.Err), true
}

// body returns a reply's body as text. Bytes that are not exactly one reply to the
// operation are returned in hex.
func (v *view) body(op proto.OpCode, h proto.ReplyHeader, body []byte) string {
	if len(body) == 0 {
		return ""
	}
	// multi and multiRead may have a body with an error.
	if h.Err == proto.OK || op == proto.OpMulti || op == proto.OpMultiRead {
		reply, err := wire.DecodeReply(op, body)
		if err == nil && reply != nil && bytes.Equal(wire.AppendReply(nil, h, reply)[4+16:], body) {
			return ", " + v.reply(reply)
		}
	}
	return fmt.Sprintf(", a body of % x", body)
}

func (v *view) reply(r proto.Reply) string {
	switch r := r.(type) {
	case proto.PathReply:
		return show(r.Path)
	case proto.PathStatReply:
		return show(r.Path) + " " + v.stat(r.Stat)
	case proto.StatReply:
		return v.stat(r.Stat)
	case proto.DataReply:
		return showData(r.Data) + " " + v.stat(r.Stat)
	case proto.ChildrenReply:
		return showList(r.Names)
	case proto.ChildrenStatReply:
		return showList(r.Names) + " " + v.stat(r.Stat)
	case proto.ACLReply:
		return fmt.Sprintf("%+v %s", r.ACL, v.stat(r.Stat))
	case proto.EphemeralsReply:
		return showList(r.Paths)
	case proto.MultiReply:
		return v.multi(r)
	case proto.SaslReply:
		return showData(r.Token)
	}
	return fmt.Sprintf("%+v", r)
}

func (v *view) multi(m proto.MultiReply) string {
	var parts []string
	for _, r := range m.Results {
		part := r.Op.String() + " " + r.Err.String()
		if r.Reply != nil {
			part += " " + v.reply(r.Reply)
		}
		parts = append(parts, part)
	}
	return "{ " + strings.Join(parts, " ; ") + " }"
}

func (v *view) stat(s proto.Stat) string {
	zxids := fmt.Sprintf("czxid %s%s mzxid %s%s pzxid %s",
		v.zxid(s.Czxid), v.clock.check(s.Czxid, s.Ctime),
		v.zxid(s.Mzxid), v.clock.check(s.Mzxid, s.Mtime), v.zxid(s.Pzxid))
	return fmt.Sprintf("(%s versions %d/%d/%d owner %s length %d children %d)", zxids,
		s.Version, s.Cversion, s.Aversion, v.session(s.EphemeralOwner), s.DataLength, s.NumChildren)
}

// zxid returns a zxid relative to the script's start, "old" for one before it: the number
// of zxids for cleaning up may differ.
func (v *view) zxid(z int64) string {
	if z > 0 && z <= v.start {
		return "old"
	}
	return v.lastZxid(z)
}

// lastZxid returns the zxid of a header, relative to the script's start. One before the
// start is an error.
func (v *view) lastZxid(z int64) string {
	switch {
	case z <= 0 || v.start == 0:
		return fmt.Sprint(z)
	case z < v.start:
		return fmt.Sprintf("%d before the script", v.start-z)
	}
	return fmt.Sprintf("+%d", z-v.start)
}

// session returns the name of a session.
func (v *view) session(id int64) string {
	if id == 0 {
		return "0"
	}
	if name := v.names[id]; name != "" {
		return name
	}
	return "an unknown session"
}

// connected returns the answer to a connect request as text.
func (v *view) connected(c *session, r proto.ConnectResponse) string {
	if r.SessionID == 0 {
		return fmt.Sprintf("refused: version %d, timeout %d, password % x, read-only byte %s",
			r.ProtocolVersion, r.TimeoutMs, r.Password, readOnlyByte(r))
	}
	which := fmt.Sprintf("a new session with an id %d after the last", r.SessionID-v.newest)
	switch {
	case v.names[r.SessionID] == c.name:
		which = "the same session"
	case v.names[r.SessionID] != "":
		which = "session " + v.names[r.SessionID]
	case r.SessionID == v.newest+1:
		which = "the next session"
	}
	return v.connectedTo(which, c.name, r)
}

// connectedAgain returns the answer to a createSession as text.
func (v *view) connectedAgain(r proto.ConnectResponse) string {
	return v.connectedTo("session "+v.session(r.SessionID), v.names[r.SessionID], r)
}

func (v *view) connectedTo(which, name string, r proto.ConnectResponse) string {
	if v.names[r.SessionID] == "" {
		v.names[r.SessionID], v.newest = name, r.SessionID
	}
	password := "its password"
	if !bytes.Equal(r.Password, passwordOf(r.SessionID)) {
		password = fmt.Sprintf("a password of %d bytes that is not its own", len(r.Password))
	}
	if v.start == 0 {
		which += fmt.Sprintf(", number %d", r.SessionID&0xffff)
	}
	return fmt.Sprintf("connected: version %d, timeout %d, %s of server %d, %s, read-only byte %s",
		r.ProtocolVersion, r.TimeoutMs, which, r.SessionID>>56, password, readOnlyByte(r))
}

func readOnlyByte(r proto.ConnectResponse) string {
	if !r.HasReadOnly {
		return "none"
	}
	return fmt.Sprint(r.ReadOnly)
}

func show(path string) string {
	if rest, ok := strings.CutPrefix(path, Root); ok && (rest == "" || rest[0] == '/') {
		path = "$" + rest
	}
	return quote(path)
}

func showData(data []byte) string {
	switch {
	case data == nil:
		return "null"
	case len(data) > 200:
		return fmt.Sprintf("%q... of %d bytes, CRC %08x", data[:20], len(data),
			crc32.ChecksumIEEE(data))
	}
	return fmt.Sprintf("%q", data)
}

func showList(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = show(name)
	}
	return "[" + strings.Join(shown, " ") + "]"
}
