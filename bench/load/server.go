package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// The servers that can be measured.
const (
	serverOurs  = "ours"
	serverFloor = "floor"
	serverReal  = "real"
	serverOther = "other"
)

// A server is a separate process that answers on a port of the loopback interface.
type server struct {
	name    string
	version string // "" for a server built from this tree
	addr    string
	pid     int
	collect func(context.Context) error // gives free memory back to the system; may be nil
	stop    func() error
}

// startServer starts one of the servers by its name.
func startServer(a *app, name string, args ...string) (*server, error) {
	switch name {
	case serverOurs:
		return startOwn(a, name, append([]string{"serve"}, args...)...)
	case serverFloor:
		return startOwn(a, name, append([]string{"floor"}, args...)...)
	case serverReal:
		return startReal(a.ctx)
	case serverOther:
		return startOther(a)
	}
	return nil, fmt.Errorf("%w: no server %q; there are %s, %s, %s and %s",
		errInput, name, serverOurs, serverFloor, serverReal, serverOther)
}

// startOwn starts this program again with a command that serves and takes commands
// on its standard input (see controlled).
func startOwn(a *app, name string, args ...string) (*server, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p, err := begin(a, program, append(args, "--controlled")...)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &server{
		name: name, addr: p.addr, pid: p.cmd.Process.Pid,
		collect: func(context.Context) error { return p.ask("collect") },
		stop:    func() error { return stopped(a, name, p.input.Close(), p.cmd.Wait()) },
	}, nil
}

// startOther starts the program of --other.
func startOther(a *app) (*server, error) {
	if a.other == "" {
		return nil, fmt.Errorf("%w: server %q needs --other", errInput, serverOther)
	}
	p, err := begin(a, a.other, "serve", "--addr", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", serverOther, err)
	}
	return &server{
		name: serverOther, version: a.other, addr: p.addr, pid: p.cmd.Process.Pid,
		stop: func() error {
			return stopped(a, serverOther, p.cmd.Process.Signal(os.Interrupt), p.cmd.Wait())
		},
	}, nil
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
