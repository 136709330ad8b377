// Command zkload measures how fast the server of this repository is, beside a
// floor that no server can pass and a genuine ZooKeeper.
//
//	go run ./internal/zkload             requests: rate, latency, processor time
//	go run ./internal/zkload memory      resident memory: empty, per znode, per connection
//	go run ./internal/zkload start       from nothing to the first znode
//	go run ./internal/zkload serve       one of the servers, by itself (with a profile)
//	go run ./internal/zkload floor
//
// # The servers
//
//   - ours: fakezk.Server behind Server.Serve, a process of its own;
//   - floor: a server without state, which answers each request with a canned
//     reply of the right type and size: what TCP, the kernel and a plain Go
//     program cost before anything is done for the request;
//   - real: a genuine ZooKeeper in its best case: the JVM's default flags, data
//     on a RAM disk, no fsync (forceSync=no), no snapshots, no messages. Its log
//     of a full run takes a gigabyte of that disk. Without Java it is left out,
//     and a line says why.
//   - other, only if asked for (--servers, --other): another program with a
//     command "serve", as zksim itself, with all that it does besides serving, or
//     zkload built from another commit.
//
// All are on loopback, with the same client program: the go-zookeeper client
// with its logging off, eight goroutines to a connection, each of which asks for
// the next thing once it has the last (a closed loop).
//
// # How it is measured
//
// The servers take turns in short rounds, so that what else the machine does
// falls on all of them. Figures are medians over the rounds; a ratio is the
// median of the ratios within the rounds. Two figures are exceptions: processor
// time per request is the time of all rounds by the requests of all rounds, as
// the kernel counts it in units of 10 ms (utime and stime of /proc/PID/stat).
// Before the first round each server is warmed up with every operation, and one
// round of each cell is not counted: a JVM compiles while it runs.
//
// # What the figures can say, and what not
//
// On a machine with two cores the client takes most of the processor: it decodes
// by reflection and needs about twice the time for a request that a server in Go
// does. So
//
//   - requests per second compare servers only as far as the client leaves room:
//     a server that needs half the time for a request answers by far less than
//     twice as many. The floor shows how much room there is. The same server
//     measured twice (--other) differs by some percent, on a busy machine by ten;
//     what is that near to 1 is no difference.
//   - processor time per request is the server's own and does not depend on how
//     slow the client is. It is the figure to compare servers by. But a server
//     that is asked less often handles fewer requests per system call, so its
//     requests cost more when it is idle than under load.
//   - latency is that of a closed loop on a full machine: with 128 connections
//     1,024 requests wait for two cores, and most of what p50 and p99 show is
//     the queue in front of the client. It is not the latency of a machine with
//     room to spare, and a stall counts once for each goroutine it holds up
//     (coordinated omission).
//   - a real ZooKeeper does what ours does not: it writes a log of every change.
//     "Ours is faster" means that it is for tests, where nobody needs the log.
//   - nodes that create made stay. The tree grows in the course of the
//     measurement, in each server by as many as it managed.
//
// It needs Linux: the figures come from /proc. On other systems it says so.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitInput  = 2
)

type cli struct {
	Other string `type:"existingfile" placeholder:"PROGRAM" help:"What server \"other\" is: a program that serves when it is started with 'serve --addr 127.0.0.1:0' and prints a line that ends with its address."`

	Compare compareCommand `cmd:"" default:"withargs" help:"Requests per second, latency and processor time of the servers (the default)."`
	Memory  memoryCommand  `cmd:"" help:"Resident memory: empty, per znode, per idle connection."`
	Start   startCommand   `cmd:"" help:"Time from nothing to the first znode."`
	Serve   serveCommand   `cmd:"" help:"Serve our server until interrupted."`
	Floor   floorCommand   `cmd:"" help:"Serve canned replies until interrupted."`
}

// app is what every command gets.
type app struct {
	ctx    context.Context
	in     io.Reader
	out    io.Writer
	errors io.Writer
	other  string // the program of server "other"
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	os.Exit(run(&app{ctx: ctx, in: os.Stdin, out: os.Stdout, errors: os.Stderr}, os.Args[1:]))
}

// run is the whole command but the process: it returns the exit status.
func run(a *app, args []string) int {
	var c cli
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("zkload"),
		kong.Description("Measures zksim beside a floor and a genuine ZooKeeper."),
		kong.Writers(a.out, a.errors),
		kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // a wrong struct tag of ours
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 { // --help
		return exited
	}
	if err != nil {
		fmt.Fprintf(a.errors, "zkload: %v (see zkload --help)\n", err)
		return exitInput
	}
	a.other = c.Other
	if err := parsed.Run(a); err != nil {
		fmt.Fprintf(a.errors, "zkload: %v\n", err)
		if errors.Is(err, errInput) {
			return exitInput
		}
		return exitFailed
	}
	return exitOK
}

// errInput marks a flag whose value makes no sense.
var errInput = errors.New("wrong flag")
