package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/pprof"

	"github.com/zksim/zksim/fakezk"
)

// serveCommand serves our server.
type serveCommand struct {
	Addr       string `default:"127.0.0.1:0" help:"Address to listen on."`
	Servers    int    `hidden:"" default:"1" help:"Servers of an ensemble."`
	Controlled bool   `hidden:"" help:"End with standard input."`
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
	// As maxClientCnxns=0 of the real one.
	return c.serve(a, fakezk.New(fakezk.Options{MaxClientConns: -1, Servers: c.Servers}))
}

// serve listens and prints the addresses. It serves until the context ends or, if the command is
// controlled, standard input does: then no server outlives a driver that was killed.
func (c *serveCommand) serve(a *app, s *fakezk.Server) error {
	var listeners []net.Listener
	for range c.Servers {
		l, err := net.Listen("tcp", c.Addr)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", c.Addr, err)
		}
		listeners = append(listeners, l)
		if _, err := fmt.Fprintln(a.out, l.Addr()); err != nil {
			return fmt.Errorf("print the address: %w", err)
		}
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listeners...) }()
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	if c.Controlled {
		go func() {
			defer cancel()
			_, _ = io.Copy(io.Discard, a.in) // an error is an end, too
		}()
	}
	select {
	case err := <-served:
		return firstOf(err, s.Close())
	case <-ctx.Done():
	}
	err := s.Close()
	<-served // with an error if it had not begun
	return err
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
