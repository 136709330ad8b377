package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/zksim/zksim/bench/internal/figure"
	"github.com/zksim/zksim/bench/internal/proc"
	"github.com/zksim/zksim/cli"
)

// controlSizes are the sizes of the attacks on the control endpoint.
type controlSizes struct {
	clients, megabytes int           // attackers, and MiB of a body or of the tree
	nodes              int           // of a tree of small ones
	lasts, rest        time.Duration // of an attack, and from its end to the last look
}

// slow has the sizes; tests make them smaller.
var slow = controlSizes{100, 40, 3_000_000, 5 * time.Second, 10 * time.Second}

// A controlAttack is what is done to a control endpoint while innocent clients are watched, and
// after that.
type controlAttack struct {
	name string
	do   func(a *app, control string) (ends string, err error)
	then func(s *server, control string) (ends string, err error)
}

var controlAttacks = []controlAttack{
	{name: "slow bodies", do: sendOnly("body")},
	{name: "slow readers", do: sendOnly("tree")},
	{name: "a load of small nodes; a reset; SIGTERM in a load", do: loadSmall, then: resetAndEnd},
}

// attackControl measures what slow clients of the control endpoint cost the others: their longest
// waits, and the resident memory.
func attackControl(a *app) error {
	r := report{Header: []string{"attack on the control endpoint", "longest request ms",
		"longest ping ms", "MiB before", "highest", "after", "ends"}}
	for _, k := range controlAttacks {
		row, err := k.measured(a)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		r.Rows = append(r.Rows, row)
	}
	r.Notes = []string{fmt.Sprintf("In an attack on the control endpoint of zksim serve, %d clients "+
		"each send a body of %d MiB without its end, or take nothing of a tree as long, for %v; or "+
		"one loads %[6]s nodes. %[4]d others ask for GET /server meanwhile, and %[4]d sessions "+
		"ping. The last memory is that %[5]v after the end.",
		slow.clients, slow.megabytes, slow.lasts, pingers, slow.rest,
		figure.Thousands(float64(slow.nodes)))}
	if _, err := fmt.Fprintln(a.out); err != nil {
		return err
	}
	return r.print(a.out)
}

func (k controlAttack) measured(a *app) (row []string, err error) {
	s, lines, err := startAgain(a, 2, []string{"serve-control"})
	if err != nil {
		return nil, err
	}
	s.stop = sync.OnceValue(s.stop) // an attack may have ended it
	defer func() { err = firstOf(err, s.stop()) }()
	control, found := strings.CutPrefix(lines[0], "control on ")
	addr, too := strings.CutPrefix(lines[1], "listening on ")
	if !found || !too {
		return nil, fmt.Errorf("zksim serve says %q", lines)
	}
	s.addr = addr
	megabyte := string(bytes.Repeat([]byte("x"), 1<<20))
	for i := range slow.megabytes {
		address := fmt.Sprintf("http://%s/nodes/%d", control, i)
		if err := ask(http.DefaultClient, "PUT", address, megabyte); err != nil {
			return nil, err
		}
	}
	time.Sleep(slow.rest)
	before, err := proc.ResidentBytes(s.pid)
	if err != nil {
		return nil, err
	}
	innocents, err := watchControl(s, control)
	if err != nil {
		return nil, err
	}
	ends, doErr := k.do(a, control)
	requests, pings, memory, err := innocents.stop()
	if err := firstOf(doErr, err); err != nil {
		return nil, err
	}
	time.Sleep(slow.rest)
	after, err := proc.ResidentBytes(s.pid)
	if err == nil && k.then != nil {
		ends, err = k.then(s, control)
	}
	row = []string{k.name, figure.Milliseconds(requests), figure.Milliseconds(pings)}
	for _, bytes := range []int64{before, memory, after} {
		row = append(row, figure.Thousands(float64(bytes>>20)))
	}
	return append(row, ends), err
}

// loadSmall loads a tree of small nodes.
func loadSmall(_ *app, control string) (ends string, err error) {
	return "answered", ask(http.DefaultClient, "POST", "http://"+control+"/load", smallNodes())
}

// resetAndEnd empties the server, which ends all sessions. Then it loads the tree again and ends
// the server meanwhile.
func resetAndEnd(s *server, control string) (ends string, err error) {
	began := time.Now()
	err = ask(http.DefaultClient, "POST", "http://"+control+"/reset", "")
	reset := time.Since(began)
	go func() { _, _ = loadSmall(nil, control) }()
	time.Sleep(slow.lasts)
	began = time.Now()
	err = firstOf(err, s.stop())
	return fmt.Sprintf("reset %s ms, SIGTERM %s ms", figure.Milliseconds(reset),
		figure.Milliseconds(time.Since(began))), err
}

// smallNodes is a tree file.
func smallNodes() string {
	var b strings.Builder
	b.WriteString("{")
	for i := range slow.nodes {
		fmt.Fprintf(&b, "\"/n%d\":null,\n", i)
	}
	return strings.TrimSuffix(b.String(), ",\n") + "}"
}

// ask sends a request, which must succeed.
func ask(client *http.Client, method, address, body string) error {
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, address, res.Status, text)
	}
	return err
}

// sendOnly is an attack by another process, so that its goroutines do not keep the innocent clients
// from running.
func sendOnly(what string) func(a *app, control string) (ends string, err error) {
	return func(a *app, control string) (ends string, err error) {
		s, lines, err := startAgain(a, 1, []string{"send-only", control, what,
			fmt.Sprint("--clients=", slow.clients), fmt.Sprint("--megabytes=", slow.megabytes),
			fmt.Sprint("--lasts=", slow.lasts)})
		if err != nil {
			return "", err
		}
		return lines[0], s.stop()
	}
}

// sendOnlyCommand has clients that send a text, and nothing more. None of them reads. Then it says
// how many were refused, and waits for the end of standard input.
type sendOnlyCommand struct {
	Control   string `arg:""`
	What      string `arg:"" enum:"body,tree"`
	Clients   int
	Megabytes int
	Lasts     time.Duration
}

// Run is the attack.
func (c *sendOnlyCommand) Run(a *app) error {
	text := []byte("GET /tree HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if c.What == "body" {
		text = fmt.Appendf(nil, "POST /load HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n",
			c.Megabytes<<20+1)
		text = append(text, bytes.Repeat([]byte("x"), c.Megabytes<<20)...)
	}
	attackers, err := beginSlowly(c.Clients, c.Control, text)
	if err != nil {
		return err
	}
	time.Sleep(c.Lasts)
	if _, err := fmt.Fprintf(a.out, "%d refused\n", attackers.end()); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, a.in)
	return err
}

// slowClients are the attackers.
type slowClients []net.Conn

func beginSlowly(n int, control string, text []byte) (clients slowClients, err error) {
	for range n {
		conn, err := net.Dial("tcp", control)
		if err != nil {
			clients.end()
			return nil, err
		}
		if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			return nil, err
		}
		clients = append(clients, conn)
		go func() { _, _ = conn.Write(text) }() // some are refused
	}
	return clients, nil
}

// end closes the connections, and counts the clients that were told to come later.
func (c slowClients) end() (refused int) {
	for _, conn := range c {
		_ = conn.SetDeadline(time.Now().Add(100 * time.Millisecond))
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil && res.StatusCode == http.StatusServiceUnavailable {
			refused++
		}
	}
	for _, conn := range c {
		_ = conn.Close()
	}
	return refused
}

// controlWatch is the innocent clients of an endpoint and its server.
type controlWatch struct {
	sessions []*watcher
	done     chan struct{}
	running  sync.WaitGroup

	mu      sync.Mutex
	longest time.Duration
	err     error
}

func watchControl(s *server, control string) (*controlWatch, error) {
	w := &controlWatch{done: make(chan struct{})}
	for i := range pingers {
		session, err := watch(s, i)
		if err != nil {
			return nil, err
		}
		w.sessions = append(w.sessions, session)
		w.running.Go(func() { w.asks("http://" + control + "/server") })
	}
	return w, nil
}

// asks asks the endpoint without a pause.
func (w *controlWatch) asks(address string) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for {
		began := time.Now()
		err := ask(client, "GET", address, "")
		w.mu.Lock()
		w.longest, w.err = max(w.longest, time.Since(began)), firstOf(w.err, err)
		w.mu.Unlock()
		select {
		case <-w.done:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stop waits for the last answers. It returns the longest waits and the highest memory.
func (w *controlWatch) stop() (requests, pings time.Duration, memory int64, err error) {
	close(w.done)
	w.running.Wait()
	for _, session := range w.sessions {
		session.stop()
		pings, memory = max(pings, session.longest), max(memory, session.memory)
		w.err = firstOf(w.err, session.err)
	}
	return w.longest, pings, memory, w.err
}

// serveControlCommand is zksim serve with its control endpoint.
type serveControlCommand struct{}

// Run ends the process.
func (*serveControlCommand) Run(a *app) error {
	go func() {
		_, _ = io.Copy(io.Discard, a.in) // an error is an end, too
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	}()
	os.Args = []string{"zksim", "serve", "--addr", "127.0.0.1:0", "--control", "127.0.0.1:0",
		"--log-level", "error"}
	cli.Main()
	return nil
}
