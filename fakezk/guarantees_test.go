package fakezk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// witness is a client of an ensemble that records its requests. It sends one after the other, over
// TCP, and goes to the next server when a connection is lost.
type witness struct {
	number    int
	addresses []string
	rng       *rand.Rand
	clock     *atomic.Int64
	timeoutMs int32                                  // of the session; 0: ten seconds
	dialer    func(address string) (net.Conn, error) // nil for TCP
	patience  time.Duration                          // for an answer; 0 is that for a server

	conn    net.Conn // nil without a connection
	conns   int
	session proto.ConnectResponse
	last    int64 // the highest zxid of a reply
	xid     int32
	events  []string // since the last reply
	ops     []recordedOp
}

// witnessPatience is how long a witness waits for a server.
const witnessPatience = 10 * time.Second

// connect takes up the session, or begins one, at any server that accepts it.
func (w *witness) connect() error {
	for began := time.Now(); time.Since(began) < 6*witnessPatience; {
		err := w.dial(w.addresses[w.conns%len(w.addresses)])
		if w.conns++; err == nil {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("no server accepts the client")
}

func (w *witness) dial(address string) (err error) {
	dial := w.dialer
	if dial == nil {
		dial = func(address string) (net.Conn, error) {
			return net.DialTimeout("tcp", address, witnessPatience)
		}
	}
	if w.conn, err = dial(address); err != nil {
		w.conn = nil
		return err
	}
	_, err = w.conn.Write(wire.AppendConnectRequest(nil, proto.ConnectRequest{
		LastZxidSeen: w.last, TimeoutMs: cmp.Or(w.timeoutMs, 10_000),
		SessionID: w.session.SessionID, Password: w.session.Password,
	}))
	var answer []byte
	if err == nil {
		answer, err = w.frame()
	}
	var session proto.ConnectResponse
	if err == nil {
		session, err = wire.DecodeConnectResponse(answer)
	}
	if err == nil && session.SessionID == 0 {
		err = errors.New("the session has expired")
		w.session = proto.ConnectResponse{}
	}
	if err != nil {
		w.lose()
		return err
	}
	w.session = session
	return nil
}

func (w *witness) lose() {
	_ = w.conn.Close() // it is over anyway
	w.conn = nil
}

// frame reads the next frame.
func (w *witness) frame() ([]byte, error) {
	deadline := time.Now().Add(cmp.Or(w.patience, witnessPatience))
	if err := w.conn.SetReadDeadline(deadline); err != nil {
		return nil, err
	}
	packet, err := wire.ReadPacket(w.conn, wire.MaxFrameLimit)
	if err != nil {
		return nil, err
	}
	return packet[4:], nil
}

// call sends a request and returns its reply. Events before it are recorded.
func (w *witness) call(req proto.Request) (proto.ReplyHeader, proto.Reply, error) {
	w.xid++
	if _, err := w.conn.Write(wire.AppendRequest(nil, w.xid, req)); err != nil {
		return proto.ReplyHeader{}, nil, err
	}
	for {
		frame, err := w.frame()
		if err != nil {
			return proto.ReplyHeader{}, nil, err
		}
		h, body, err := wire.DecodeReplyHeader(frame)
		if err != nil {
			return h, nil, err
		}
		if h.Xid == -1 {
			ev, err := wire.DecodeEvent(body)
			if err != nil {
				return h, nil, err
			}
			w.events = append(w.events, ev.Path)
			continue
		}
		w.last = max(w.last, h.Zxid)
		if h.Err != proto.OK {
			return h, nil, fmt.Errorf("%s: %s", req.Op(), h.Err)
		}
		reply, err := wire.DecodeReply(req.Op(), body)
		return h, reply, err
	}
}

// step makes one request at random and records it.
func (w *witness) step() error {
	if w.conn == nil {
		if err := w.connect(); err != nil {
			return err
		}
	}
	op := recordedOp{node: fmt.Sprintf("/n%d", w.rng.IntN(3)), conn: w.conns}
	var req proto.Request
	draw := w.rng.IntN(8)
	if w.number > 1 { // it only reads, as a write or a sync ends a lag
		draw = max(draw, 3)
	}
	switch draw {
	case 0, 1:
		op.kind, op.data = "set", fmt.Sprintf("%d-%d", w.number, len(w.ops))
		req = &proto.SetData{Path: op.node, Data: []byte(op.data), Version: -1}
	case 2:
		op.kind, req = "sync", &proto.Sync{Path: op.node}
	case 3:
		op.kind, req = "watch", &proto.GetData{Path: op.node, Watch: true}
	default:
		op.kind, req = "get", &proto.GetData{Path: op.node}
	}
	op.began = w.clock.Add(1)
	h, reply, err := w.call(req)
	op.events, w.events = w.events, nil
	if err != nil {
		w.lose()
	} else {
		op.ended, op.zxid = w.clock.Add(1), h.Zxid
		if data, ok := reply.(proto.DataReply); ok {
			op.data, op.mzxid = string(data.Data), data.Stat.Mzxid
		}
	}
	w.ops = append(w.ops, op)
	return nil
}

// witnesses lets clients play until each has made its requests, and the disturbance is over. It
// counts the reads that showed an old state.
func witnesses(t *testing.T, addresses []string, requests int, disturb func()) (old oldReads) {
	t.Helper()
	var clock atomic.Int64
	list := make([]*witness, 6)
	for i := range list {
		list[i] = &witness{
			number: i, addresses: addresses, rng: rand.New(rand.NewPCG(uint64(i), 1)),
			clock: &clock,
			conns: i,
		}
	}
	first := list[0]
	check.OK(t, first.connect())
	for n := range 3 {
		_, _, err := first.call(&proto.Create{Code: proto.OpCreate, Path: fmt.Sprintf("/n%d", n),
			ACL: worldAll, Data: []byte("first")})
		check.OK(t, err)
	}
	for _, w := range list[1:] { // as a read might find no node
		check.OK(t, w.connect())
		_, _, err := w.call(&proto.Sync{Path: "/n2"})
		check.OK(t, err)
	}
	disturbed := make(chan struct{})
	var playing sync.WaitGroup
	for _, w := range list {
		playing.Go(func() {
			for done := false; len(w.ops) < requests || !done; {
				if err := w.step(); err != nil {
					t.Errorf("client %d: %v", w.number, err)
					return
				}
				select {
				case <-disturbed:
					done = true
				default:
				}
			}
			if w.conn != nil {
				w.lose()
			}
		})
	}
	disturb()
	close(disturbed)
	playing.Wait()
	var clients [][]recordedOp
	lost := 0
	for _, w := range list {
		clients = append(clients, w.ops)
		for _, op := range w.ops {
			if !op.answered() {
				lost++
			}
		}
	}
	old, err := judgeGuarantees(clients)
	check.OK(t, err)
	t.Logf("%d requests, %d without a reply, %d reads of an old state, %d of them after a sync",
		clock.Load()/2, lost, old.all, old.afterSync)
	return old
}

// TestAnEnsembleKeepsItsGuarantees while servers stop, lag and restart. A single server shows no
// old state, and some of thousands of requests to several servers do.
func TestAnEnsembleKeepsItsGuarantees(t *testing.T) {
	for _, servers := range []int{1, 3, 5} {
		s := Start(t, Options{Servers: servers})
		addresses := strings.Split(s.Listen(t), ",")
		old := witnesses(t, addresses, testrun.Pick(1000, 17_000), func() {
			rng := rand.New(rand.NewPCG(7, uint64(servers)))
			for range testrun.Pick(30, 300) {
				disturbServer(t, s, 1+rng.IntN(servers), rng)
			}
		})
		s.ClearFaults()
		if servers == 1 && old.all > 0 || servers > 1 && old.all == 0 && testrun.Full() {
			t.Errorf("%d servers: %d reads of an old state", servers, old.all)
		}
		check.Equal(t, old.afterSync, 0, "%d servers: old reads after a sync", servers)
	}
}

// TestALeaderThatStoodStillKeepsTheGuarantees: a sync is none of them. Some reads after a sync are
// old, as the leader that has answered it was deposed.
func TestALeaderThatStoodStillKeepsTheGuarantees(t *testing.T) {
	const tick = 20 * time.Millisecond
	s := Start(t, Options{Servers: 3, TickTime: tick, MaxSessionTimeout: time.Minute})
	witnesses(t, strings.Split(s.Listen(t), ","), testrun.Pick(500, 17_000), func() {
		for range testrun.Pick(10, 60) {
			leader := s.Leader()
			check.OK(t, s.Inject(fault.Fault{Kind: fault.PauseServer, Server: leader, For: 6 * tick,
				At: 1}))
			time.Sleep(10 * tick)
		}
	})
	s.ClearFaults()
}

// disturbServer stops a server for some milliseconds, or lets it lag.
func disturbServer(t *testing.T, s *Server, server int, rng *rand.Rand) {
	time.Sleep(time.Duration(rng.IntN(5)) * time.Millisecond)
	if rng.IntN(2) == 0 {
		s.Stop(server)
		time.Sleep(time.Duration(rng.IntN(5)) * time.Millisecond)
		s.Restart(server)
		return
	}
	s.ClearFaults()
	f := fault.Fault{Kind: fault.Lag, Server: server, For: 50 * time.Millisecond, At: 1}
	if s.opts.Servers == 1 {
		f = fault.Fault{Kind: fault.Cut, At: 1}
	}
	check.OK(t, s.Inject(f))
}

// TestARealEnsembleKeepsItsGuarantees: the model is that of a real ensemble, whose servers are
// killed one after the other, and whose leaders stand still.
func TestARealEnsembleKeepsItsGuarantees(t *testing.T) {
	if !testrun.Full() {
		t.Skip("a real ensemble takes a minute; -full plays it")
	}
	for name, disturb := range map[string]func(a *asked){
		"killed": func(a *asked) {
			for i := range 6 {
				time.Sleep(time.Second)
				check.OK(t, a.servers[i%3].Restart(context.Background(), 300*time.Millisecond))
			}
		},
		"stands still": func(a *asked) {
			for range 4 {
				time.Sleep(3 * time.Second)
				a.pause(a.leader(), 7*time.Second)
				time.Sleep(8 * time.Second)
			}
		},
	} {
		a := askedReal(t)
		var addresses []string
		for _, s := range a.servers {
			addresses = append(addresses, s.Address())
		}
		old := witnesses(t, addresses, 17_000, func() { disturb(a) })
		if name == "killed" {
			check.Equal(t, old.afterSync, 0, "old reads after a sync")
		}
	}
}
