package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"runtime/pprof"

	"github.com/zksim/zksim/fakezk"
)

// listenFlags are the flags of the commands that serve.
type listenFlags struct {
	Addr       string `default:"127.0.0.1:0" help:"Address to listen on."`
	Controlled bool   `hidden:"" help:"Take commands on standard input and end with it."`
}

// serveCommand serves our server.
type serveCommand struct {
	listenFlags
	CPUProfile string `name:"cpuprofile" placeholder:"FILE" help:"Write a processor profile (pprof)."`
}

// Run serves until the program is interrupted.
func (c *serveCommand) Run(a *app) (err error) {
	if c.CPUProfile != "" {
		stop, err := startProfile(c.CPUProfile)
		if err != nil {
			return err
		}
		defer func() { err = firstOf(err, stop()) }()
	}
	s := fakezk.New(fakezk.Options{MaxClientConns: -1}) // as maxClientCnxns=0 of the real one
	serving := func(l net.Listener) error { return s.Serve(l) }
	return c.serve(a, serving, s.Close)
}

// serve listens, prints the address, and runs serving until the context ends or,
// if the command is controlled, standard input does.
func (f *listenFlags) serve(a *app, serving func(net.Listener) error, stop func() error) error {
	l, err := net.Listen("tcp", f.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", f.Addr, err)
	}
	if _, err := fmt.Fprintln(a.out, l.Addr()); err != nil {
		return fmt.Errorf("print the address: %w", errors.Join(err, l.Close()))
	}
	served := make(chan error, 1)
	go func() { served <- serving(l) }()
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	if f.Controlled {
		go controlled(a, cancel)
	}
	select {
	case err := <-served:
		return firstOf(err, stop())
	case <-ctx.Done():
	}
	return firstOf(stop(), <-served)
}

// controlled obeys the program that started this one: "collect" collects
// garbage, gives free memory back to the system and is echoed when done; the end
// of the input ends the server, so that none outlives a driver that was killed.
func controlled(a *app, end func()) {
	defer end()
	lines := bufio.NewScanner(a.in)
	for lines.Scan() {
		if lines.Text() != "collect" {
			fmt.Fprintf(a.errors, "load: unknown command %q\n", lines.Text())
			return
		}
		debug.FreeOSMemory()
		if _, err := fmt.Fprintln(a.out, "collect"); err != nil {
			return // the driver is gone
		}
	}
}

// startProfile profiles the processor into a file until stop.
func startProfile(name string) (stop func() error, err error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("profile: %w", errors.Join(err, f.Close()))
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
