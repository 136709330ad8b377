package serve

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/internal/check"
)

// TestClientsLiveThroughARestart: a client of a server that is dumped, ended and
// loaded again gets a new session and goes on. The negative control: without the
// zxid it is refused, and the log tells why.
func TestClientsLiveThroughARestart(t *testing.T) {
	t.Parallel()
	dump := filepath.Join(t.TempDir(), "dump.yaml")
	first := serveHere(t, "--dump", dump)
	var addr atomic.Pointer[string]
	addr.Store(&first.addr)
	conn, events := first.client(t,
		func(network, _ string, timeout time.Duration) (net.Conn, error) {
			return net.DialTimeout(network, *addr.Load(), timeout)
		})
	for _, path := range []string{"/a", "/b", "/c"} {
		if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	id := conn.SessionID()
	if status, stderr := first.stop(); status != command.ExitOK {
		t.Fatalf("exit status %d\n%s", status, stderr)
	}
	events.await(t, zk.StateDisconnected)

	forgetful := serveHere(t, "--load", withoutZxid(t, dump))
	refused := dialRefused(t, forgetful.addr, 4)
	if !refused {
		t.Error("a server without the zxid takes a client that is ahead of it")
	}
	if _, log := forgetful.stop(); !strings.Contains(log, `seen=0x4 last=0x1`) {
		t.Errorf("the log does not tell why:\n%s", log)
	}

	second := serveHere(t, "--load", dump)
	addr.Store(&second.addr)
	events.await(t, zk.StateExpired)
	events.await(t, zk.StateHasSession)
	if conn.SessionID() == id {
		t.Error("the old session is back; it ended with its server")
	}
	if _, err := conn.Create("/a/d", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Error(err)
	}
	if _, stat, err := conn.Get("/b"); err != nil || stat.Czxid <= 4 {
		t.Errorf("/b: %+v, %v; want it made after the old server's last zxid, 4", stat, err)
	}
}

// withoutZxid is a copy of a dump without its zxid, which must be 4: a session and three nodes.
func withoutZxid(t *testing.T, dump string) string {
	t.Helper()
	text, err := os.ReadFile(dump)
	check.OK(t, err)
	bare := regexp.MustCompile(`(?m)^zxid: 4\n`).ReplaceAll(text, nil)
	if len(bare) == len(text) {
		t.Fatalf("no zxid of 4 in\n%s", text)
	}
	name := filepath.Join(t.TempDir(), "bare.yaml")
	check.OK(t, os.WriteFile(name, bare, 0o600))
	return name
}

// dialRefused says whether a server closes the connection of a client that has seen a zxid.
func dialRefused(t *testing.T, addr string, zxid byte) bool {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, patience)
	check.OK(t, err)
	defer conn.Close()
	connect := make([]byte, 4+28)
	connect[3], connect[15], connect[18] = 28, zxid, 0x20
	if _, err := conn.Write(connect); err != nil {
		t.Fatal(err)
	}
	n, _ := conn.Read(make([]byte, 1)) // a refusal is an error
	return n == 0
}
