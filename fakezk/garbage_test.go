package fakezk

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
)

func unhex(s string) []byte {
	p, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return p
}

// length prefixes a payload.
func framed(payload []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), payload...)
}

// body is a request of an operation with these bytes for a body.
func body(op proto.OpCode, bytes string) []byte {
	return framed(append(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 42}, uint32(op)),
		unhex(bytes)...))
}

// ending is the end of a connection that sends garbage.
type ending struct {
	reply *proto.ReplyHeader // nil: none. Zxid 0 stands for the last one, 1 for the next
	ends  bool
}

var (
	endsSilently = ending{ends: true}
	ignored      = ending{}
)

func answers(zxid int64, err proto.ErrCode) ending {
	return ending{reply: &proto.ReplyHeader{Xid: 42, Zxid: zxid, Err: err}}
}

const (
	noZxid   = 0
	nextZxid = 1
)

// garbageAfterHandshake has the outcomes of a real 3.8 server. Package conform has more bodies that
// cannot be read (families/framing.txt).
var garbageAfterHandshake = []struct {
	name  string
	bytes []byte
	want  ending
}{
	{"length -1", unhex("ffffffff"), endsSilently},
	{"length min", unhex("80000000"), endsSilently},
	{"length max", unhex("7fffffff"), endsSilently},
	{"length one too many", unhex("00100000"), endsSilently},
	{"empty frame", unhex("00000000"), endsSilently},
	{"7 bytes", framed(make([]byte, 7)), endsSilently},
	{"half a length", unhex("0000"), ignored},
	{"largest length, no body", unhex("000fffff"), ignored},
	{"unknown operation 99", body(99, ""),
		ending{&proto.ReplyHeader{Xid: 42, Zxid: -1, Err: proto.Unimplemented}, true}},
	{"create without body", body(proto.OpCreate, ""), answers(nextZxid, proto.MarshallingError)},
	{"getData without body", body(proto.OpGetData, ""), answers(noZxid, proto.MarshallingError)},
	{"auth cut short", body(proto.OpAuth, "00000000"), endsSilently},
	{"check that succeeds", body(proto.OpCheck, "00000001 2f ffffffff"), ignored},
	{"ping with a body", body(proto.OpPing, "dead beef"),
		ending{reply: &proto.ReplyHeader{Xid: -2}}},
}

var garbageBeforeHandshake = []struct {
	name  string
	bytes []byte
	want  ending
}{
	{"length -1", unhex("ffffffff"), endsSilently},
	{"length max", unhex("7fffffff"), endsSilently},
	{"empty frame", unhex("00000000"), endsSilently},
	{"27 bytes", framed(make([]byte, 27)), endsSilently},
	{"a ping", body(proto.OpPing, ""), endsSilently},
	{"password of 2 GB", framed(append(make([]byte, 24), unhex("7fffffff")...)), endsSilently},
	{"http", []byte("GET / HTTP/1.1\r\nHost: zookeeper\r\n\r\n"), endsSilently},
	{"a TLS client", unhex("16030100 c2010000 be0303 00112233"), endsSilently},
	{"ssh", []byte("SSH-2.0-OpenSSH_9.2\r\n"), endsSilently},
	{"three bytes", unhex("000000"), ignored},
}

// network is a way to reach a server.
type network struct {
	name string
	dial func(*testing.T, *Server) *rawClient
}

var networks = []network{
	{"memory", func(t *testing.T, s *Server) *rawClient { return rawDial(t, s) }},
	{"tcp", func(t *testing.T, s *Server) *rawClient {
		address, _ := listen(t, s)
		conn, err := net.Dial("tcp", address)
		check.OK(t, err)
		mustDo(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
		t.Cleanup(func() { _ = conn.Close() })
		return &rawClient{Conn: conn, t: t}
	}},
}

// A bystander is a session on the same server that must not notice a thing.
func undisturbed(t *testing.T, s *Server, garbage func()) {
	t.Helper()
	bystander, resp := rawSession(t, s, 10*time.Second)
	bystander.mustCall(rawCreate("/by", proto.FlagEphemeral))
	bystander.mustCall(&proto.GetData{Path: "/by", Watch: true})
	garbage()
	if h := bystander.call(&proto.GetData{Path: "/by"}); h.Xid != bystander.xid ||
		h.Err != proto.OK {
		t.Errorf("the bystander got %+v", h)
	}
	if got := s.Watches(); !slices.Contains(got, view.Watch{Path: "/by", Session: resp.SessionID}) {
		t.Errorf("watches: %+v", got)
	}
}

func (want ending) check(t *testing.T, r *rawClient, before int64) {
	t.Helper()
	if want.reply != nil {
		h := *want.reply
		if h.Zxid >= 0 {
			h.Zxid += before
		}
		if got, _ := r.reply(); got != h {
			t.Errorf("reply %+v, want %+v", got, h)
		}
	}
	if want.ends {
		r.wantClosed()
	}
}

func TestGarbageAfterTheHandshake(t *testing.T) {
	for _, n := range networks {
		for _, test := range garbageAfterHandshake {
			t.Run(n.name+"/"+test.name, func(t *testing.T) {
				s := Start(t)
				undisturbed(t, s, func() {
					r := n.dial(t, s)
					resp := r.handshake(proto.ConnectRequest{TimeoutMs: 10_000})
					before := s.engine.Store().LastZxid()
					r.send(test.bytes)
					test.want.check(t, r, before)
					check.Equal(t, len(s.Sessions()), 2, "sessions: %+v", s.Sessions())
					if test.want.ends {
						r = n.dial(t, s)
						again := r.handshake(proto.ConnectRequest{
							SessionID: resp.SessionID, Password: resp.Password,
						})
						check.Equal(t, again.SessionID, resp.SessionID,
							"the session cannot be taken up again")
					} else if test.want.reply != nil {
						r.mustCall(ping)
					}
				})
			})
		}
	}
}

func TestGarbageBeforeTheHandshake(t *testing.T) {
	for _, n := range networks {
		for _, test := range garbageBeforeHandshake {
			if n.name == "memory" && test.name == "a TLS client" {
				continue // it is answered
			}
			t.Run(n.name+"/"+test.name, func(t *testing.T) {
				s := Start(t)
				undisturbed(t, s, func() {
					r := n.dial(t, s)
					r.send(test.bytes)
					test.want.check(t, r, 0)
				})
			})
		}
	}
}

// Any cut of a valid conversation into writes is the same conversation.
func TestBytesOneByOne(t *testing.T) {
	s := Start(t)
	r := rawDial(t, s)
	conversation := wire.AppendConnectRequest(nil, proto.ConnectRequest{TimeoutMs: 4000})
	conversation = wire.AppendRequest(conversation, 1, rawCreate("/slow", 0))
	conversation = wire.AppendRequest(conversation, 2, ping)
	for _, b := range conversation {
		r.send([]byte{b})
	}
	if _, err := wire.DecodeConnectResponse(r.receive()); err != nil {
		t.Error(err)
	}
	var xids []int32
	for range 2 {
		h, _ := r.reply()
		xids = append(xids, h.Xid)
	}
	check.Equal(t, fmt.Sprint(xids), "[1 -2]", "replies to")
}
