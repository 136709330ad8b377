// Command load measures how fast the server of this repository is, beside a real ZooKeeper.
//
//	go run -C bench ./load             requests: rate, latency, processor time
//	go run -C bench ./load start       from nothing to the first znode
//	go run -C bench ./load attack      what one hostile client costs the others
//	go run -C bench ./load serve       our server alone (with a profile)
//
// # The servers
//
//   - ours: fakezk.Server behind Server.Serve, in its own process;
//   - real: a real ZooKeeper in its best case: the JVM's default flags, data on a RAM disk, no
//     fsync (forceSync=no), no snapshots, no messages. The log of a full run takes a gigabyte of
//     that disk. Without Java the server is left out, and a line says why.
//
// Both listen on loopback and have the same client program: the go-zookeeper client
// with its logging off, eight goroutines to a connection. Each goroutine sends its
// next request when it has the last reply (a closed loop).
//
// # How it is measured
//
// The servers take turns in short rounds, so that other work of the machine slows all of them down.
// Figures are medians over the rounds; a ratio is the median of the ratios within the rounds. One
// figure is an exception: processor time per request is the time of all rounds divided by the
// requests of all rounds, since the kernel counts it in units of 10 ms (utime and stime of
// /proc/PID/stat). Before the first round each server is warmed up with every operation, and one
// round of each cell is not counted: a JVM compiles while it runs.
//
// # Limits of the figures
//
// On a machine with two cores the client takes most of the processor: it decodes by reflection and
// needs about twice the time for a request that a server in Go does. So
//
//   - requests per second compare servers only as far as the client leaves room: a server that
//     needs half the time for a request answers by far less than twice as many. The same server
//     measured twice differs by some percent, on a busy machine by ten; a ratio that close to 1 is
//     no difference.
//   - processor time per request is the server's own and does not depend on how slow the client is.
//     It is the figure to compare servers by. But a server that is asked less often handles fewer
//     requests per system call, so its requests cost more when it is idle than under load.
//   - latency is that of a closed loop on a full machine: with 128 connections
//     1,024 requests wait for two cores, and p50 and p99 are mostly the queue in
//     front of the client. It is not the latency of a machine with room to spare,
//     and a stall counts once for each goroutine it holds up (coordinated omission).
//   - a real ZooKeeper writes a log of every change, which ours does not. "Ours is
//     faster" means: for tests, which need no log.
//   - the nodes made by create stay. The tree of each server grows during the
//     measurement, by as many nodes as the server managed to create.
//
// It needs Linux: the figures come from /proc. Elsewhere it fails with an error.
package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/alecthomas/kong"
	"github.com/zksim/zksim/bench/internal/command"
)

type flags struct {
	Compare compareCommand `cmd:"" default:"withargs" help:"${compareHelp}"`
	Start   startCommand   `cmd:"" help:"Time from nothing to the first znode."`
	Attack  attackCommand  `cmd:"" help:"What one hostile client costs the others."`
	Serve   serveCommand   `cmd:"" help:"Serve our server until interrupted."`

	ServeControl serveControlCommand `cmd:"" hidden:"" help:"zksim serve until standard input ends."`
	SendOnly     sendOnlyCommand     `cmd:"" hidden:"" help:"Clients that send a text and read nothing."`
}

// vars are texts of the help that are too long for a tag.
var vars = kong.Vars{
	"compareHelp": "Requests per second, latency and processor time of the servers (the default).",
}

// app is shared by all commands.
type app struct {
	ctx    context.Context
	in     io.Reader
	out    io.Writer
	errors io.Writer
}

func main() {
	command.Main("load", func(ctx context.Context, args []string) error {
		return run(&app{ctx: ctx, in: os.Stdin, out: os.Stdout, errors: os.Stderr}, args)
	})
}

// run is the whole command but the process.
func run(a *app, args []string) error {
	parsed, err := command.Parse(&flags{}, a.out, a.errors, args, kong.Name("load"),
		kong.Description("Measures zksim beside a real ZooKeeper."), vars)
	if errors.Is(err, command.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	return parsed.Run(a)
}
