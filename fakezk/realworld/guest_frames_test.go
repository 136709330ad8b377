package realworld_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/internal/check"
)

// TestAGuestIsAnsweredLikeAHost: frames that cannot be decoded, a reconfig, and the ephemeral nodes
// of a session that has none.
func TestAGuestIsAnsweredLikeAHost(t *testing.T) {
	t.Parallel()
	reconfig := wire.AppendRequest(nil, 7, &proto.Reconfig{Joining: "server.9=x:1:2;3"})[4:]
	frames := []struct {
		name  string
		frame []byte
	}{
		{"reconfig", reconfig},
		{"multi with a reconfig", frameOf(proto.OpMulti, slices.Concat(
			frameOf(proto.OpReconfig)[4:], []byte{0, 0xff, 0xff, 0xff, 0xff}, reconfig[8:],
			[]byte{0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff})...)},
		{"malformed create", frameOf(proto.OpCreate, 0, 0, 0, 9, '/')},
		{"malformed read", frameOf(proto.OpGetData, 0, 0, 0, 9, '/')},
		{"malformed setWatches", frameOf(proto.OpSetWatches, 0, 0)},
		{"malformed auth", frameOf(proto.OpAuth, 0, 0)},
		{"unknown operation", frameOf(999, 0, 0, 0, 1, '/')},
		{"short header", []byte{0, 0, 0, 7, 0}},
		{"all ephemerals", ephemerals("")},
		{"all ephemerals, blank", ephemerals(" ")},
		{"all ephemerals below /", ephemerals("/")},
		{"all ephemerals below /, blanks around", ephemerals("\t/ ")},
		{"all ephemerals, a null prefix", ephemerals(proto.NullPath)},
		{"ephemerals below a blank that Java does not trim", ephemerals("\u00a0")},
		{"setData of the empty path", wire.AppendRequest(nil, 7, &proto.SetData{})[4:]},
		{"create of the empty path",
			wire.AppendRequest(nil, 7, &proto.Create{Code: proto.OpCreate})[4:]},
	}
	server := startReal(t)
	answers := func(at realworld.Server) (list []string) {
		_, err := realWorld(at, nil, func(_ context.Context, c *realworld.Client) {
			for _, f := range frames {
				list = append(list, f.name+": "+answerTo(t, c.Address(), f.frame))
			}
		}).Run(t.Context())
		check.OK(t, err)
		return list
	}
	guest, host := answers(realworld.At(server.Address())), answers(server)
	if diff := cmp.Diff(host, guest); diff != "" || len(host) != len(frames) {
		t.Errorf("-host +guest\n%s", diff)
	}
}

// TestAGuestBeginsNoSessionAgain: the server gives a host any timeout, and no place in its queue of
// timeouts to a negative one.
func TestAGuestBeginsNoSessionAgain(t *testing.T) {
	t.Parallel()
	frame := wire.AppendRequest(nil, 7, &proto.CreateSession{TimeoutMs: -1 << 30})[4:]
	_, err := realWorld(realworld.At(startReal(t).Address()), nil,
		func(_ context.Context, c *realworld.Client) {
			check.Equal(t, answerTo(t, c.Address(), frame),
				`xid 7, Unimplemented, "", closed`)
		}).Run(t.Context())
	check.OK(t, err)
}

// ephemerals is the frame of a getEphemerals.
func ephemerals(prefix string) []byte {
	return wire.AppendRequest(nil, 7, &proto.GetEphemerals{Prefix: prefix})[4:]
}

// frameOf is a frame with the xid 7.
func frameOf(op proto.OpCode, body ...byte) []byte {
	frame := binary.BigEndian.AppendUint32(nil, 7)
	return append(binary.BigEndian.AppendUint32(frame, uint32(op)), body...)
}

// answerTo is the answer to a frame on a connection of its own, and, behind the answer after which
// a server closes it, whether it is closed.
func answerTo(t *testing.T, address string, frame []byte) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	check.OK(t, err)
	defer conn.Close()
	check.OK(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	send := func(packet []byte) {
		_, err := conn.Write(packet)
		check.OK(t, err)
	}
	send(wire.AppendConnectRequest(nil, proto.ConnectRequest{TimeoutMs: 1000,
		Password: make([]byte, 16)}))
	read := func() ([]byte, error) { return wire.ReadPacket(conn, wire.DefaultMaxFrame) }
	if _, err := read(); err != nil {
		return "no session"
	}
	send(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	answer, err := read()
	if err != nil {
		return "closed"
	}
	h, body, err := wire.DecodeReplyHeader(answer[4:])
	check.OK(t, err)
	text := fmt.Sprintf("xid %d, %s, %q", h.Xid, h.Err, body)
	if h.Err == proto.Unimplemented {
		if _, err := read(); err == io.EOF {
			text += ", closed"
		}
	}
	return text
}
