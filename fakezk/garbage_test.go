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

// framed prefixes a payload with its length.
func framed(payload []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), payload...)
}

// garbage is what clients send before the handshake or after it, and whether it ends a connection,
// as at a real 3.8 server. Package conform has more bodies that cannot be read
// (families/framing.txt), and more first frames (families/sessions.txt).
var garbage = []struct {
	name          string
	greeted, ends bool
	bytes         []byte
}{
	{"length -1", true, true, unhex("ffffffff")},
	{"half a length", true, false, unhex("0000")},
	{"largest length, no body", true, false, unhex("000fffff")},
	{"length -1", false, true, unhex("ffffffff")},
	{"password of 2 GB", false, true, framed(append(make([]byte, 24), unhex("7fffffff")...))},
	{"http", false, true, []byte("GET / HTTP/1.1\r\nHost: zookeeper\r\n\r\n")},
	{"a TLS client", false, true, unhex("16030100 c2010000 be0303 00112233")},
	{"ssh", false, true, []byte("SSH-2.0-OpenSSH_9.2\r\n")},
	{"three bytes", false, false, unhex("000000")},
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

func TestGarbage(t *testing.T) {
	for _, n := range networks {
		for _, test := range garbage {
			if n.name == "memory" && test.name == "a TLS client" {
				continue // it is answered
			}
			t.Run(fmt.Sprintf("%s/%s greeted=%v", n.name, test.name, test.greeted),
				func(t *testing.T) {
					s := Start(t)
					undisturbed(t, s, func() {
						r := n.dial(t, s)
						var resp proto.ConnectResponse
						if test.greeted {
							resp = r.handshake(proto.ConnectRequest{TimeoutMs: 10_000})
						}
						r.send(test.bytes)
						if test.ends {
							r.wantClosed()
						}
						if !test.greeted {
							return
						}
						again := n.dial(t, s).handshake(proto.ConnectRequest{
							SessionID: resp.SessionID, Password: resp.Password,
						})
						check.Equal(t, again.SessionID, resp.SessionID,
							"the session cannot be taken up again")
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
