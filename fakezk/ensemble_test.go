package fakezk

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
)

// ensembleTest is three servers with a client each, in a bubble. Server 3 leads.
type ensembleTest struct {
	*testing.T
	*Server
	conns [4]*zk.Conn // by number of the server
}

func inEnsemble(t *testing.T, test func(e *ensembleTest, t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		e := &ensembleTest{T: t, Server: Start(t, Options{Servers: 3})}
		for number := 1; number <= 3; number++ {
			e.conns[number], _ = e.ConnectAs(t, Client{
				Name: fmt.Sprintf("at%d", number), Server: number,
			})
		}
		test(e, t)
	})
}

func (e *ensembleTest) set(number int, path, data string) {
	e.Helper()
	_, err := e.conns[number].Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll))
	if err == zk.ErrNodeExists {
		_, err = e.conns[number].Set(path, []byte(data), -1)
	}
	check.OK(e.T, err)
}

// reads checks the data of a node at a server; "" means that there is no node.
func (e *ensembleTest) reads(number int, path, want string) {
	e.Helper()
	data, _, err := e.conns[number].Get(path)
	if want == "" && err == zk.ErrNoNode {
		return
	}
	check.OK(e.T, err)
	check.Equal(e.T, string(data), want, "%s at server %d", path, number)
}

func (e *ensembleTest) inject(line string) {
	e.Helper()
	injectLine(e, e.Server, line)
}

// changesBehind injects a fault that lets server 2 lag, watches a node there, and changes the node
// at server 1. It returns the watch.
func (e *ensembleTest) changesBehind(lag string) <-chan zk.Event {
	e.T.Helper()
	e.set(1, "/a", "old")
	e.inject(lag)
	time.Sleep(time.Second)
	_, _, changed, err := e.conns[2].GetW("/a")
	check.OK(e.T, err)
	e.set(1, "/a", "new")
	return changed
}

// TestAServerLags: reads and watches are late, until the fault is over, a sync or a write.
func TestAServerLags(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		changed := e.changesBehind("lag 1m server=2 at=1ms")
		e.reads(1, "/a", "new")
		e.reads(2, "/a", "old")
		began := time.Now()
		<-changed
		check.Equal(t, time.Since(began).Round(time.Second), 59*time.Second, "time to the event")
		e.reads(2, "/a", "new")

		e.inject("lag 1m server=2 at=1ms")
		time.Sleep(time.Second)
		e.set(1, "/a", "newer")
		e.reads(2, "/a", "new")
		_, err := e.conns[2].Sync("/a")
		check.OK(t, err)
		e.reads(2, "/a", "newer")
	})
}

// TestALagOfTheLeaderIsOneOfItsFollowers, and ClearFaults and Restart end it.
func TestALagOfTheLeaderIsOneOfItsFollowers(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.inject("lag 1h server=3 at=1ms")
		time.Sleep(time.Second)
		e.set(3, "/a", "x")
		e.reads(1, "/a", "")
		e.reads(2, "/a", "")
		e.Restart(1)
		time.Sleep(time.Second)
		e.reads(1, "/a", "x")
		e.reads(2, "/a", "")
		e.ClearFaults()
		e.reads(2, "/a", "x")
	})
}

// TestAServerCatchesUpWithItsEvents, whatever makes it catch up, and with ends of sessions.
func TestAServerCatchesUpWithItsEvents(t *testing.T) {
	for name, call := range map[string]func(e *ensembleTest) error{
		"AdvanceZxid": func(e *ensembleTest) error { return e.AdvanceZxid(e.LastZxid() + 10) },
		"Load": func(e *ensembleTest) error {
			return e.Load([]view.NodeSpec{{Path: "/next", Next: 7}})
		},
	} {
		inEnsemble(t, func(e *ensembleTest, t *testing.T) {
			changed := e.changesBehind("lag 1h server=2 at=1ms")
			check.OK(t, call(e))
			check.Equal(t, (<-changed).Type, zk.EventNodeDataChanged, name)
			e.reads(2, "/a", "new")
		})
	}
}

// TestAnEndedSessionIsNotServed, though its server lags and does not know.
func TestAnEndedSessionIsNotServed(t *testing.T) {
	for _, how := range []string{"expire client=at2 at=1s", "expire client=at2 request=1", "call"} {
		inEnsemble(t, func(e *ensembleTest, t *testing.T) {
			before := e.conns[2].SessionID()
			e.inject("lag 1m server=2 at=1ms")
			time.Sleep(time.Millisecond)
			if how == "call" {
				check.OK(t, e.ExpireSession(before))
			} else {
				e.inject(how)
			}
			_, _, _ = e.conns[2].Get("/")
			time.Sleep(5 * time.Second)
			_, _, err := e.conns[2].Get("/")
			check.OK(t, err)
			check.Equal(t, e.conns[2].SessionID() != before, true, how)
		})
	}
}

// TestADeadSessionsNodeIsStillVisible at a server that lags.
func TestADeadSessionsNodeIsStillVisible(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		_, err := e.conns[1].Create("/e", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		check.OK(t, err)
		e.inject("lag 1m server=2 at=1ms")
		time.Sleep(time.Second)
		check.OK(t, e.ExpireSession(e.conns[1].SessionID()))
		for number, want := range map[int]bool{2: true, 3: false} {
			exists, _, err := e.conns[number].Exists("/e")
			check.OK(t, err)
			check.Equal(t, exists, want, "the node at server %d", number)
		}
	})
}

// TestAnotherServerLeads when the leader stops, in a new epoch. Sessions live on.
func TestAnotherServerLeads(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		conn, _ := e.ConnectAs(t, Client{Name: "any"})
		before := conn.SessionID()
		e.set(1, "/a", "x")
		check.Equal(t, e.LastZxid()>>32, 1, "epoch")
		e.Stop(3)
		e.Stop(3) // is stopped already
		time.Sleep(5 * time.Second)
		e.set(1, "/a", "y")
		check.Equal(t, e.LastZxid()>>32, 2, "epoch without server 3")
		_, _, err := conn.Get("/a")
		check.OK(t, err)
		check.Equal(t, conn.SessionID(), before, "session")
		e.Restart(3)
		time.Sleep(5 * time.Second)
		check.Equal(t, e.LastZxid()>>32, 2, "epoch with server 3, a follower now")
		e.reads(3, "/a", "y")
	})
}

// TestWithoutAMajorityNoServerServes, and no session expires.
func TestWithoutAMajorityNoServerServes(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		_, err := e.conns[1].Create("/e", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		check.OK(t, err)
		e.Stop(2, 3)
		time.Sleep(time.Hour)
		check.Equal(t, e.conns[1].State() == zk.StateHasSession, false, "server 1 serves")
		e.CheckGet(t, "/e", "")
		e.Restart(2)
		time.Sleep(8 * time.Second)
		e.CheckGet(t, "/e", "")
		e.reads(1, "/e", "")
		check.Equal(t, e.LastZxid()>>32, 2, "epoch")
	})
}

// TestFaultsTakeTheLeaderDown: the request is lost or applied, and another server leads.
func TestFaultsTakeTheLeaderDown(t *testing.T) {
	for line, applied := range map[string]bool{
		"failover-lose 5s op=create request=1": false,
		"failover-keep 5s op=create request=1": true,
	} {
		inEnsemble(t, func(e *ensembleTest, t *testing.T) {
			e.inject(line)
			_, err := e.conns[1].Create("/a", nil, 0, zk.WorldACL(zk.PermAll))
			check.Is(t, err, zk.ErrConnectionClosed)
			check.Equal(t, e.Exists("/a"), applied, line)
			time.Sleep(2 * time.Second)
			e.set(1, "/b", "x")
			e.reads(2, "/b", "x")
			check.Equal(t, e.conns[3].State() == zk.StateHasSession, false, "server 3 is up")
			time.Sleep(5 * time.Second)
			e.reads(3, "/b", "x")
			check.Equal(t, e.LastZxid()>>32, 2, "epoch")
		})
	}
}

// TestFaultsTakeTheMajorityDown: no server serves until it is back.
func TestFaultsTakeTheMajorityDown(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.inject("restart 30s server=1 at=1s")
		e.inject("restart 20s server=2 at=2s")
		time.Sleep(10 * time.Second)
		check.Equal(t, e.conns[3].State() == zk.StateHasSession, false, "server 3 serves")
		time.Sleep(15 * time.Second)
		e.set(3, "/a", "x")
		e.reads(2, "/a", "x")
		check.Equal(t, e.conns[1].State() == zk.StateHasSession, false, "server 1 is up")
	})
}

// TestRestartBringsAMajorityBack, one server after the other, before the faults are over.
func TestRestartBringsAMajorityBack(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.inject("restart 1h server=2 at=1ms")
		e.inject("restart 1h server=3 at=2ms")
		time.Sleep(time.Second)
		check.Equal(t, e.Leader(), 0, "leader of one server")
		e.Restart(2)
		check.Equal(t, e.Leader(), 2, "leader of two servers")
		check.Equal(t, e.Serves(1), true, "server 1 serves")
		check.Equal(t, e.Serves(3), false, "server 3 serves")
		time.Sleep(5 * time.Second)
		e.set(1, "/a", "x")
		e.Restart(3)
		check.Equal(t, e.Serves(3), true, "server 3 serves")
	})
}

func TestServersThatAreNone(t *testing.T) {
	s := Start(t, Options{Servers: 3})
	message := new(testRecord).play(func(t TB) { s.ConnectAs(t, Client{Server: 4}) })
	check.Equal(t, message, "fakezk: there is no server 4; expected 1 to 3", "message")
	_, err := s.Dialer()("tcp", "127.0.0.1:2184", time.Second)
	check.Equal(t, fmt.Sprint(err), "fakezk: dial 127.0.0.1:2184: the ensemble has no server "+
		"there, but 127.0.0.1:2181, 127.0.0.1:2182, 127.0.0.1:2183", "error of the dialer")
	err = s.Inject(fault.Fault{Kind: fault.Cut, At: time.Hour, Server: 4})
	check.Equal(t, fmt.Sprint(err),
		`fakezk: inject: fault "cut server=4 at=1h0m0s": there is no server 4`, "error of Inject")
	check.Equal(t, fmt.Sprint(s.Serve()), "fakezk: serve: 0 listeners for 3 servers",
		"error of Serve")
	defer func() {
		check.Equal(t, fmt.Sprint(recover()), "fakezk: there is no server 0; expected 1 to 3",
			"panic")
	}()
	s.Stop(0)
}

// TestListenOfAnEnsemble: each server has a port, and its words tell what it is.
func TestListenOfAnEnsemble(t *testing.T) {
	s := Start(t, Options{Servers: 3})
	addresses := strings.Split(s.Listen(t), ",")
	conn, events, err := zk.Connect(addresses[1:2], time.Minute, zk.WithLogger(&testLog{t: t}))
	check.OK(t, err)
	defer conn.Close()
	for ev := range events {
		if ev.State == zk.StateHasSession {
			break
		}
	}
	for i, mode := range []string{"follower", "follower", "leader"} {
		text := ask(t, addresses[i], "srvr")
		want := fmt.Sprintf("\nConnections: %d\n", 1+i%2)
		if !strings.Contains(text, "\nMode: "+mode+"\n") || !strings.Contains(text, want) {
			t.Errorf("srvr of server %d:\n%s", i+1, text)
		}
		check.Contains(t, ask(t, addresses[i], "mntr"), "zk_server_state\t"+mode,
			"mntr of server %d", i+1)
		if text := ask(t, addresses[i], "conf"); !strings.HasSuffix(text,
			fmt.Sprintf("serverId=%d\n"+
				"initLimit=10\nsyncLimit=5\nelectionAlg=3\nelectionPort=%d\nquorumPort=%d\npeerType=0\n"+
				"membership: \nserver.1=127.0.0.1:2888:3888:participant\n"+
				"server.2=127.0.0.1:2889:3889:participant\n"+
				"server.3=127.0.0.1:2890:3890:participant\nversion=0", i+1, 3888+i, 2888+i)) {
			t.Errorf("conf of server %d:\n%s", i+1, text)
		}
	}
	leader := strings.Fields(ask(t, addresses[2], "mntr"))
	for _, key := range []string{"zk_learners", "zk_synced_followers"} {
		if i := slices.Index(leader, key); i < 0 || leader[i+1] != "2" {
			t.Errorf("%s is missing, or not 2", key)
		}
	}
}

// TestASlowElection closes all connections, and refuses dials until it is over, whatever else
// happens to servers. Sessions live on. Stopped servers elect nobody.
func TestASlowElection(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.set(1, "/a", "x")
		session := e.conns[1].SessionID()
		e.inject("elect 30s at=1s")
		e.inject("restart 1s server=3 at=5s")
		time.Sleep(29 * time.Second)
		check.Equal(t, e.Leader(), 0, "leader in the election")
		_, err := e.Dialer()("tcp", e.Addresses()[0], time.Second)
		check.Equal(t, errors.Is(err, syscall.ECONNREFUSED), true, "the dial is refused: %v", err)
		time.Sleep(5 * time.Second)
		check.Equal(t, e.Leader() > 0, true, "a leader after it")
		e.set(1, "/a", "y")
		e.reads(2, "/a", "y")
		check.Equal(t, e.conns[1].SessionID(), session, "session")
		e.inject("elect 1h at=1ns")
		time.Sleep(time.Second)
		e.ClearFaults()
		time.Sleep(3 * time.Second)
		e.set(1, "/a", "z")
		e.Stop(1, 2)
		e.inject("elect 1s at=1ns")
		time.Sleep(3 * time.Second)
		check.Equal(t, e.Leader(), 0, "leader without a majority")
	})
}
