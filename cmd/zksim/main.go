// Command zksim hunts for bugs in code that coordinates through ZooKeeper: it
// runs locks and queues against a simulated server under faults, shrinks what
// it finds, and replays it.
//
//	zksim demo                 find, shrink and explain a real deadlock
//	zksim list                 workloads, implementations, fault kinds
//	zksim sweep WORKLOAD       every single fault at every protocol step
//	zksim fuzz WORKLOAD        random plans and schedules
//	zksim run FILE...          scenario files, as tests
//	zksim replay FILE          one scenario file, step by step
//
// The exit status is 0 if everything is as expected, 1 if a property is
// violated, two runs of one seed differ or the output cannot be written, 2 if the
// input is wrong, and 130 if it was interrupted. Verdicts left undecided by sweep
// and fuzz are counted in the output and are no reason to fail.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

// Exit statuses.
const (
	exitOK          = 0
	exitViolated    = 1
	exitInput       = 2
	exitInterrupted = 130
)

// errViolated ends a command whose finding has been printed already.
var errViolated = errors.New("violated")

type cli struct {
	Demo   demoCommand   `cmd:"" help:"Find, shrink and explain a real deadlock, then show a lock that survives."`
	List   listCommand   `cmd:"" help:"List workloads, their implementations, and fault kinds."`
	Run    runCommand    `cmd:"" help:"Run scenario files and compare with what they expect."`
	Replay replayCommand `cmd:"" help:"Replay one scenario file and tell its story."`
	Sweep  sweepCommand  `cmd:"" help:"Try every single fault at every protocol step of a fault-free run."`
	Fuzz   fuzzCommand   `cmd:"" help:"Try random plans and schedules; shrink the first violation."`
}

// app is what every command gets.
type app struct {
	ctx      context.Context
	out      io.Writer
	errors   io.Writer
	progress *progress
}

func main() {
	// The client allocates megabytes for each connection; collecting them less
	// often makes runs about twice as fast.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// firstError keeps the first error of writing, so that no command has to look.
type firstError struct {
	to  io.Writer
	err error
}

func (w *firstError) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.to.Write(p)
	w.err = err
	return n, err
}

// run is the whole command but the process: it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c cli
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("zksim"),
		kong.Description("Breaks coordination code on purpose, on a simulated ZooKeeper."),
		kong.Writers(stdout, stderr),
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
		fmt.Fprintf(stderr, "zksim: %v (see zksim --help)\n", err)
		return exitInput
	}
	out := &firstError{to: stdout}
	a := &app{ctx: ctx, out: out, errors: stderr, progress: newProgress(stderr)}
	err = parsed.Run(a)
	a.progress.clear()
	if out.err != nil {
		fmt.Fprintf(stderr, "zksim: write output: %v\n", out.err)
		return exitViolated
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errViolated):
		return exitViolated
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "zksim: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "zksim: %v\n", err)
	return exitInput
}
