package serve

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fakezk/tree"
	"github.com/zksim/zksim/internal/check"
)

// here is a zksim serve in this process.
type here struct {
	addr, control, token string // token is one that was drawn
	stop                 func() (status int, stderr string)
}

// serveHere starts zksim serve with flags and waits until it listens. It is
// stopped when the test ends, if not before.
func serveHere(t *testing.T, flags ...string) here {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stdout, out := io.Pipe()
	var stderr strings.Builder
	status := -1
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer out.Close()
		status = serveWith(command.NewEnv(ctx, "zksim", nil, out, &stderr), append([]string{
			"--addr", "127.0.0.1:0", "--control", "127.0.0.1:0", "--log-level", "debug",
		}, flags...))
	}()
	h := here{stop: func() (int, string) {
		cancel()
		<-done
		return status, stderr.String()
	}}
	t.Cleanup(func() {
		_ = stdout.Close() // lets a server go that has more to print
		h.stop()
	})
	lines := bufio.NewScanner(stdout)
	for h.addr == "" && lines.Scan() {
		if addr, ok := strings.CutPrefix(lines.Text(), "control on "); ok {
			h.control = "http://" + addr
		}
		if token, ok := strings.CutPrefix(lines.Text(), "control token "); ok {
			h.token = token
		}
		if addr, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			h.addr = addr
		}
	}
	if h.addr == "" {
		status, stderr := h.stop()
		t.Fatalf("zksim serve does not listen: status %d\n%s", status, stderr)
	}
	return h
}

// serveWith runs the command with flags, and returns its exit status.
func serveWith(env *command.Env, flags []string) int {
	var c Command
	parser, err := kong.New(&c)
	if err == nil {
		_, err = parser.Parse(flags)
	}
	if err == nil {
		err = c.Run(env)
	}
	switch {
	case err == nil:
		return command.ExitOK
	case errors.Is(err, command.ErrViolated):
		return command.ExitViolated
	}
	env.PrintError(err)
	return command.ExitInput
}

// call asks the control endpoint, which must be content, and decodes the reply.
func (h here) call(t *testing.T, method, path, body string, into any) {
	t.Helper()
	status, reply, err := send(method, h.control+path, body)
	check.OK(t, err)
	if status != 200 {
		t.Fatalf("%s %s: status %d: %s", method, path, status, reply)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(reply), into); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, reply)
		}
	}
}

// client is a go-zookeeper client of the server, with a session, and the states that it passes.
func (h here) client(t *testing.T, dial zk.Dialer) (*zk.Conn, *states) {
	t.Helper()
	if dial == nil {
		dial = net.DialTimeout
	}
	passed := &states{more: make(chan struct{}, 1)}
	conn, _, err := zk.Connect([]string{h.addr}, 10*time.Second, zk.WithLogInfo(false),
		zk.WithLogger(log.New(io.Discard, "", 0)), zk.WithDialer(dial), zk.WithEventCallback(passed.add))
	check.OK(t, err)
	t.Cleanup(conn.Close)
	passed.await(t, zk.StateHasSession)
	return conn, passed
}

// states are the states that a client passes, in order. The client's own channel has room for six
// and drops the rest.
type states struct {
	mu   sync.Mutex
	list []zk.State
	more chan struct{} // has something in it when the list has
}

func (s *states) add(ev zk.Event) {
	if ev.Type != zk.EventSession {
		return
	}
	s.mu.Lock()
	s.list = append(s.list, ev.State)
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// patience limits the wait of a test for something that must come.
const patience = time.Minute

// await takes states off the list until a certain one comes.
func (s *states) await(t *testing.T, want zk.State) {
	t.Helper()
	timeout := time.After(patience)
	for {
		for _, state := range s.take(want) {
			if state == want {
				return
			}
		}
		select {
		case <-s.more:
		case <-timeout:
			t.Fatalf("no %v in %s", want, patience)
		}
	}
}

// take removes the states up to a certain one, or all.
func (s *states) take(last zk.State) []zk.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := slices.Index(s.list, last) + 1
	if n == 0 {
		n = len(s.list)
	}
	taken := s.list[:n:n]
	s.list = s.list[n:]
	return taken
}

// TestControlLosesAReply: the request without a reply is applied.
func TestControlLosesAReply(t *testing.T) {
	t.Parallel()
	h := serveHere(t)
	conn, events := h.client(t, nil)
	h.call(t, "POST", "/faults", "drop-reply op=create request=1", nil)
	if _, err := conn.Create("/a", []byte("x"), 0, zk.WorldACL(zk.PermAll)); !errors.Is(err,
		zk.ErrConnectionClosed) {
		t.Errorf("create: %v; want %v", err, zk.ErrConnectionClosed)
	}
	events.await(t, zk.StateHasSession)
	var tree []nodeEntry
	h.call(t, "GET", "/tree", "", &tree)
	if last := tree[len(tree)-1]; last.Path != "/a" || last.Data == nil || *last.Data != "x" {
		t.Errorf("the tree is %+v", tree)
	}
	var faults []faultEntry
	h.call(t, "GET", "/faults", "", &faults)
	if len(faults) != 1 || !faults[0].Fired || faults[0].Matched != 1 {
		t.Errorf("faults are %+v", faults)
	}
	status, log := h.stop()
	check.Equal(t, status, command.ExitOK, "exit status")
	for _, want := range []string{
		`msg="session begins" session=S1 id=0x`, `msg=fault line="drop-reply op=create request=1"`,
		"msg=stop",
	} {
		check.Contains(t, log, want)
	}
}

// TestControlFindsSessionsByAnyName: an id in hexadecimal, in decimal and S1 are the same session.
func TestControlFindsSessionsByAnyName(t *testing.T) {
	t.Parallel()
	h := serveHere(t)
	conn, events := h.client(t, nil)
	if _, err := conn.Create("/e", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	_, _, created, err := conn.ExistsW("/missing")
	check.OK(t, err)
	var sessions []sessionEntry
	h.call(t, "GET", "/sessions", "", &sessions)
	if len(sessions) != 1 || sessions[0].Name != "S1" || sessions[0].Timeout != "10s" ||
		!sessions[0].Connected || len(sessions[0].Ephemerals) != 1 {
		t.Fatalf("sessions are %+v", sessions)
	}
	var watches []map[string]any
	h.call(t, "GET", "/watches", "", &watches)
	if len(watches) != 1 || watches[0]["path"] != "/missing" ||
		watches[0]["session"] != sessions[0].Session {
		t.Errorf("watches are %v", watches)
	}
	// Without its watch: a client that sets watches again as it loses another
	// connection races with itself for its last zxid, which the race detector sees.
	if _, err := conn.Create("/missing", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	<-created
	id := conn.SessionID()
	for _, name := range []any{sessions[0].Session, id} {
		body, err := json.Marshal(map[string]any{"session": name})
		check.OK(t, err)
		h.call(t, "POST", "/drop", string(body), nil)
		events.await(t, zk.StateDisconnected)
		events.await(t, zk.StateHasSession)
	}
	if conn.SessionID() != id {
		t.Errorf("another session after drops: 0x%x; want 0x%x", conn.SessionID(), id)
	}
	h.call(t, "POST", "/expire", `{"session":"S1"}`, nil)
	events.await(t, zk.StateExpired)
	events.await(t, zk.StateHasSession) // a request before it may be refused for want of a server
	if found, _, err := conn.Exists("/e"); found || err != nil {
		t.Errorf("the ephemeral is there: %v, %v", found, err)
	}
}

// TestDumpHoldsNoEphemerals: they end with their sessions, and a file has no sessions.
func TestDumpHoldsNoEphemerals(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "made", "dump.yaml")
	h := serveHere(t, "--dump", name)
	conn, _ := h.client(t, nil)
	for _, path := range []string{"/a", "/b"} {
		flags := map[string]int32{"/b": zk.FlagEphemeral}[path]
		if _, err := conn.Create(path, []byte(path), flags, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	h.stop()
	dump, err := tree.ReadFile(name)
	check.OK(t, err)
	if last := dump.Nodes[len(dump.Nodes)-1]; len(dump.Nodes) != 2 || last.Path != "/a" ||
		string(last.Data) != "/a" {
		t.Errorf("the dump holds %+v; want / and /a", dump)
	}
}

// TestADataDirectoryWithoutALogIsTold: the writes after its snapshot are elsewhere.
func TestADataDirectoryWithoutALogIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	check.OK(t, os.CopyFS(dir, os.DirFS("../../fakezk/tree/testdata/datadir")))
	for _, told := range []bool{false, true} {
		if told {
			check.OK(t, os.Remove(filepath.Join(dir, "version-2", "log.a")))
		}
		for _, name := range []string{dir, filepath.Join(dir, "version-2")} {
			_, log := serveHere(t, "--load", name).stop()
			check.Equal(t, strings.Contains(log, "the data directory has no log"), told, log)
		}
	}
}

func TestLongBodiesAreRefused(t *testing.T) {
	t.Parallel()
	h := serveHere(t)
	status, reply, err := send(
		"POST", h.control+"/expire", `{"session":"`+strings.Repeat("x", maxControlBody)+`"}`,
	)
	check.OK(t, err)
	if status != 413 {
		t.Errorf("status %d; want 413: %s", status, reply)
	}
}

// TestTLS: a client with the right certificates is served, one without is not.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir)
	h := serveHere(t, "--tls-cert", cert, "--tls-key", key, "--tls-client-ca", cert)
	pair, err := tls.LoadX509KeyPair(cert, key)
	check.OK(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	config := &tls.Config{
		RootCAs: roots, ServerName: "localhost", Certificates: []tls.Certificate{pair},
	}
	conn, _ := h.client(t, func(network, addr string, timeout time.Duration) (net.Conn, error) {
		return tls.DialWithDialer(&net.Dialer{Timeout: timeout}, network, addr, config)
	})
	if _, err := conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Error(err)
	}
	anonymous := &tls.Config{RootCAs: roots, ServerName: "localhost"}
	bare, err := tls.Dial("tcp", h.addr, anonymous)
	if err != nil {
		t.Fatal(err) // with TLS 1.3 it is the first read that fails
	}
	defer bare.Close()
	if _, err := bare.Read(make([]byte, 1)); err == nil ||
		!strings.Contains(err.Error(), "certificate required") {
		t.Errorf("a client without a certificate reads: %v; want an error that asks for one", err)
	}
}

// writeCertificate makes a certificate that signs itself, for both ends.
func writeCertificate(t *testing.T, dir string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check.OK(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotAfter: time.Now().Add(time.Hour),
		IsCA:     true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	check.OK(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	check.OK(t, err)
	write := func(name, kind string, data []byte) string {
		name = filepath.Join(dir, name)
		check.OK(t, os.WriteFile(
			name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600,
		))
		return name
	}
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", secret)
}

// send makes an HTTP request on its own connection.
func send(method, url, body string) (status int, reply string, err error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(res.Body)
	if closed := res.Body.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return 0, "", fmt.Errorf("%s %s: %w", method, url, err)
	}
	return res.StatusCode, string(text), nil
}

func TestLoopbackIsThisMachineOnly(t *testing.T) {
	for ip, want := range map[string]bool{
		"127.0.0.1": true, "127.8.8.8": true, "::1": true, "0.0.0.0": false, "::": false,
		"192.168.1.2": false, "::ffff:127.0.0.1": true,
	} {
		check.Equal(t, isLoopback(&net.TCPAddr{IP: net.ParseIP(ip), Port: 1}), want,
			"%s", ip)
	}
}
