package realworld

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// A run on the servers of somebody else is their guest. Its clients live below a node of the run,
// which the proxy puts before all their paths, and which is deleted at the end. There is no
// transaction log: record.go says what takes its place.

// At is a server that somebody else runs, at an address host:port. A World leaves it alone, but for
// a node of its own below the root: its clients live there.
func At(address string) Server { return foreignServer(address) }

type foreignServer string

func (f foreignServer) Address() string { return string(f) }
func (f foreignServer) DataDir() string { return "" }
func (f foreignServer) Restart(context.Context, time.Duration) error {
	return fmt.Errorf("restart %s: somebody else runs it", string(f))
}

func (f foreignServer) StandStill(bool) error {
	return fmt.Errorf("stop the work of %s: somebody else runs it", string(f))
}
func (f foreignServer) CutOff(bool) error {
	return fmt.Errorf("cut %s off: somebody else runs it", string(f))
}

// guest says that the servers are those of somebody else.
func (w World) guest() bool { return isGuest(w.Servers) }

func isGuest(servers []Server) bool { return servers[0].DataDir() == "" }

// guestRoot is the node of a guest: the root of its run. It is empty on servers of our own, whose
// nodes keep their paths.
type guestRoot string

// tree is the root of the clients.
func (r guestRoot) tree() string { return string(r) + treeNode }

// inside is a path of a client as the server knows it.
func (r guestRoot) inside(p string) string {
	switch {
	case r == "" || !strings.HasPrefix(p, "/"):
		return p
	case p == "/":
		return r.tree()
	}
	return r.tree() + p
}

// moveInside puts the root of the clients before each path of a request. The root itself is no
// ordinary node: it cannot be deleted, a sequential node below it may have no name, and reads know
// it by the empty path, too.
func (r guestRoot) moveInside(req proto.Request) {
	inside := r.inside
	switch b := req.(type) {
	case *proto.Multi:
		for _, op := range b.Ops {
			r.moveInside(op)
		}
		return
	case *proto.Delete:
		if b.Path == "/" {
			return // the server refuses it
		}
	case *proto.Create:
		if b.Path == "/" && b.Flags&zk.FlagSequence != 0 {
			b.Path = r.inside(b.Path) + "/"
			return
		}
	case *proto.GetEphemerals:
		// A null prefix, and one that Java trims to nothing or to "/", selects all ephemeral nodes
		// of the session, also that of the proxy.
		if p := strings.TrimFunc(b.Prefix, javaBlank); p == "" || p == "/" {
			b.Prefix = "/"
		}
	}
	if !req.Op().IsWrite() {
		inside = r.readInside
	}
	proto.MapPaths(req, inside)
}

// javaBlank reports whether Java's trim removes a character.
func javaBlank(c rune) bool { return c <= ' ' }

// readInside is inside for a read, to which a server gives its root also as the empty path. It
// refuses a write with that path.
func (r guestRoot) readInside(p string) string { return r.inside(cmp.Or(p, "/")) }

// outside is a path of the server as the client knows it.
func (r guestRoot) outside(p string) string {
	if rest, ok := strings.CutPrefix(p, r.tree()); ok && r != "" {
		return cmp.Or(rest, "/")
	}
	return p
}

// packetOf is a frame of a client as the server gets it, with its length before it. A guest lets
// the server see nothing but requests whose paths are below its root.
func (r guestRoot) packetOf(q *request, frame []byte) []byte {
	if r != "" && !q.Handshake {
		frame = r.guestsFrame(q, frame)
	}
	packet := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(frame)), uint32(len(frame)))
	return append(packet, frame...)
}

// headerBytes is the length of the header of a request: its xid and its operation.
const headerBytes = 8

// guestsFrame is a frame after the handshake as a guest sends it. If the frame cannot be decoded
// the server gets its header alone, and answers that as it would have answered the frame: it
// refuses a missing body like a malformed one, and closes the connection after an unknown
// operation, or a header that is too short.
func (r guestRoot) guestsFrame(q *request, frame []byte) []byte {
	req, err := wire.DecodeRequest(q.Header.Op, frame[min(headerBytes, len(frame)):])
	if err != nil {
		return frame[:min(headerBytes, len(frame))]
	}
	switch req.Op() {
	case proto.OpReconfig:
		req = r.refusedWrite()
	case proto.OpCreateSession:
		// It would give the session any timeout, also one that never ends. In its place the server
		// gets an operation that it answers with Unimplemented.
		req = &proto.Simple{Code: proto.OpError}
	default:
		r.moveInside(req)
	}
	return wire.AppendRequest(nil, q.Header.Xid, req)[4:]
}

// refusedWrite takes the place of a reconfig, which would change servers of somebody else. The
// server refuses it, and so its answer has a zxid and a place among the others; the client gets
// ReconfigDisabled.
func (r guestRoot) refusedWrite() proto.Request {
	return &proto.Delete{Path: string(r) + "/none", Version: -1}
}

// clientsPacket is a packet of the server as the client gets it.
func (l *link) clientsPacket(packet []byte) []byte {
	h, body, err := wire.DecodeReplyHeader(packet[4:])
	if l.proxy.guest.root == "" || err != nil || l.session == 0 {
		return packet
	}
	if h.Xid == -1 {
		ev, err := wire.DecodeEvent(body)
		if err != nil {
			return packet
		}
		ev.Path = l.proxy.guest.root.outside(ev.Path)
		return wire.AppendEvent(nil, ev)
	}
	for _, q := range l.waiting {
		if q.Header.Xid != h.Xid || q.Handshake {
			continue
		}
		if q.Header.Op == proto.OpReconfig && h.Err == proto.NoNode {
			h.Err = proto.ReconfigDisabled
			return wire.AppendReply(nil, h, nil)
		}
		if h.Err != proto.OK {
			return packet
		}
		if reply, err := wire.DecodeReply(q.Header.Op, body); err == nil && reply != nil {
			return wire.AppendReply(nil, h, proto.MapReplyPaths(reply, l.proxy.guest.root.outside))
		}
	}
	return packet
}

// markXid is the xid of the request that makes the nodes of a session. No client comes so far.
const markXid = closingXid - 1

// mark makes the nodes of the session of a connection, in the session itself.
func (l *link) mark() {
	if l.proxy.guest.root == "" || l.proxy.sessions[l.session].marked {
		return
	}
	folder := l.proxy.guest.root.session(l.session)
	acl := []proto.ACL{{Perms: zk.PermAll, Scheme: "world", ID: "anyone"}}
	l.send(wire.AppendRequest(nil, markXid, &proto.Multi{Ops: []proto.Request{
		&proto.Create{Code: proto.OpCreate, Path: folder, ACL: acl},
		&proto.Create{Code: proto.OpCreate, Path: folder + aliveNode, ACL: acl,
			Flags: zk.FlagEphemeral},
	}}))
}

// marks notes the answer to a mark, and reports whether it is one. A session that is marked already
// gets an error.
func (l *link) marks(packet []byte) bool {
	h, _, err := wire.DecodeReplyHeader(packet[4:])
	if err != nil || l.session == 0 || h.Xid != markXid {
		return false
	}
	l.proxy.sessions[l.session].marked = true
	return true
}

func (r guestRoot) session(session int64) string {
	return path.Join(string(r), sessionsNode, strconv.FormatUint(uint64(session), 16))
}

// Probe reaches each server, and returns how many times faster than virtual time a World may run:
// so that sessions of the given virtual timeout are not shorter than the servers grant. The error
// names the address that cannot be used.
func Probe(ctx context.Context, servers []Server, session time.Duration) (pace int, err error) {
	const fastest = 8
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	pace = fastest
	for _, server := range servers {
		granted, err := probe(ctx, server.Address(), session/fastest)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", server.Address(), err)
		}
		if granted > session {
			return 0, fmt.Errorf("%s: it grants no session shorter than %s; expected %s: see "+
				"tickTime and minSessionTimeout in its zoo.cfg", server.Address(), granted, session)
		}
		for pace > 1 && session/time.Duration(pace) < granted {
			pace /= 2
		}
	}
	return pace, nil
}

// probePatience is how long, in real time, the servers may take to answer all in all.
const probePatience = 5 * time.Second

// probe begins a session and ends it, and returns its timeout.
func probe(ctx context.Context, address string, timeout time.Duration) (time.Duration, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return 0, err
	}
	defer closeQuietly(conn)
	defer context.AfterFunc(ctx, func() { closeQuietly(conn) })()
	answer, err := handshake(conn, proto.ConnectRequest{TimeoutMs: int32(timeout.Milliseconds()),
		Password: make([]byte, 16)})
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("no answer: %w", ctx.Err())
	case err != nil:
		return 0, fmt.Errorf("it does not answer as a ZooKeeper that serves: %w", err)
	case answer.SessionID == 0:
		return 0, errors.New("it refuses a new session")
	}
	return time.Duration(answer.TimeoutMs) * time.Millisecond, endSessionOf(conn)
}
