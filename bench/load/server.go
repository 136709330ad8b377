package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// The servers that can be measured.
const (
	serverOurs  = "ours"
	serverOurs3 = "ours-3"
	serverReal  = "real"
)

// A server is a separate process that answers on a port of the loopback interface.
type server struct {
	name    string
	version string // "" for ours
	addr    string
	others  []string // the other servers of its ensemble
	pid     int
	stop    func() error
}

// startServer starts one of the servers by its name. The arguments are for ours.
func startServer(a *app, name string, args ...string) (*server, error) {
	switch name {
	case serverOurs:
		return startOurs(a, 1, args...)
	case serverOurs3:
		s, err := startOurs(a, 3, args...)
		if err == nil {
			s.name = name
		}
		return s, err
	case serverReal:
		return startReal(a.ctx)
	}
	return nil, fmt.Errorf("no server %q; there are %s, %s and %s", name, serverOurs, serverOurs3,
		serverReal)
}

// startOurs starts this program again with the command that serves as an ensemble of some servers,
// and waits for their addresses, a line each.
func startOurs(a *app, servers int, args ...string) (*server, error) {
	s, lines, err := startAgain(a, servers, append([]string{"serve", "--controlled",
		"--servers", fmt.Sprint(servers)}, args...))
	if err == nil {
		s.addr, s.others = lines[0], lines[1:]
	}
	return s, err
}

// startAgain starts this program again and waits for some lines. Its standard error goes to
// a.errors, which must accept concurrent writes. It is killed when a.ctx ends.
func startAgain(a *app, count int, args []string) (s *server, lines []string, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("start ours: %w", err)
	}
	cmd := exec.CommandContext(a.ctx, program, args...)
	cmd.Stderr, cmd.WaitDelay = a.errors, 5*time.Second
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, fmt.Errorf("start ours: %w", err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, fmt.Errorf("start ours: %w", errors.Join(err, input.Close()))
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("start ours: %w", err)
	}
	for reader := bufio.NewReader(output); len(lines) < count; {
		line, err := reader.ReadString('\n')
		if err != nil {
			return nil, nil, fmt.Errorf("start ours: %s says no address: %w", program,
				errors.Join(err, input.Close(), cmd.Process.Kill(), cmd.Wait()))
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return &server{
		name: serverOurs, pid: cmd.Process.Pid,
		stop: func() error { return stopped(a, serverOurs, input.Close(), cmd.Wait()) },
	}, lines, nil
}

// stopped returns the errors of a server's end, or nil if the server was killed
// because the context is done.
func stopped(a *app, name string, errs ...error) error {
	if err := errors.Join(errs...); err != nil && a.ctx.Err() == nil {
		return fmt.Errorf("stop %s: %w", name, err)
	}
	return nil
}

// stopAll stops servers and returns the first error.
func stopAll(servers []*server) error {
	var first error
	for _, s := range servers {
		first = firstOf(first, s.stop())
	}
	return first
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
