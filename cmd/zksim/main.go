// Command zksim hunts for bugs in code that coordinates through ZooKeeper: it
// runs locks and queues against a simulated server under faults, shrinks what
// it finds, and replays it.
//
//	zksim demo                 find, shrink and explain a real deadlock
//	zksim list                 workloads, implementations, fault kinds
//	zksim sweep WORKLOAD       every single fault at every protocol step
//	zksim fuzz WORKLOAD        a hunt by several strategies, on all cores
//	zksim museum [ID...]       published bugs, found again
//	zksim run FILE...          scenario files, as tests
//	zksim replay FILE          one scenario file, step by step
//	zksim diff A B             where two traces part
//	zksim conform              the same requests to it and to a running ZooKeeper
//	zksim serve                an in-memory ZooKeeper on TCP, for clients in any language
//
// zksim serve forgets everything when it stops, unless --dump keeps it. It prints
// "listening on HOST:PORT" on stdout once clients can connect, logs on stderr,
// and ends with status 0 on SIGTERM or an interrupt, after writing the dump; a
// second signal kills it. Faults come from --plan, --fault and the control
// endpoint, which --control HOST:PORT opens: HTTP with JSON, for this machine
// only unless --control-anywhere is given too, as it asks for no password. It
// takes requests whose Host is localhost or an address such as 127.0.0.1, so that
// no page in a browser reaches it under another name.
//
//	GET  /                     lists what there is
//	GET  /tree, /sessions, /watches, /faults
//	GET  /dump                 the tree as a tree file; ?format=yaml or json
//	POST /load                 a tree file: makes its nodes
//	POST /expire               {"session":"S1"}: ends a session
//	POST /drop                 {"session":"S1"}: closes its connection; nothing: all
//	POST /stall                {"for":"2s","session":"S1"}: holds its bytes
//	POST /fault                {"line":"drop-reply op=create request=1"}, or lines
//	POST /clear                disarms all faults and ends what they do
//	POST /reset                makes the server as new
//
// A session is S1 for the first that was created, or its id as 0x... or in
// decimal; null and "" are errors. An error is {"error":"..."} with status 400 for
// a wrong request, 403 for one of another site or to another Host, 404 for a
// session or path that is not there, 405 for a wrong method, 409 for what is in
// conflict with what the server holds, 413 for a body too long, 503 while the
// server stops.
//
// A tree file, for --load, --dump and the control endpoint, maps paths to nodes,
// in YAML or JSON:
//
//	zxid: 42                   # in a dump: the server goes on after it
//	/app: hello                # data as text; quotes around what looks like a number
//	/app/nothing: ~            # null data
//	/app/locks:
//	  data: text               # or base64: AAEC
//	  acl:                     # scheme:id:perms; world:anyone:cdrwa if absent
//	    - world:anyone:r
//	  kind: container          # or persistent, or ttl with ttl: 90s
//	  next: 12                 # number of the next sequential child
//
// Ephemeral nodes are not in a dump: their sessions end with the server. Clients
// that live through a restart are refused while the server's zxid is below what
// they have seen, so a tree without zxid needs new clients.
//
// The server answers as a ZooKeeper 3.8.0 with extendedTypesEnabled=true and
// 4lw.commands.whitelist=*. Its log tells of sessions that begin and end, faults
// that fire, and of connections, handshakes and frames that are refused.
//
// The exit status is 0 if everything is as expected, 1 if a property is
// violated, a bug of the museum is not found, two runs of one seed differ, a
// server breaks or the output cannot be written, 2 if the input is wrong, and 130
// if it was interrupted. Verdicts left undecided by sweep and fuzz are counted in
// the output and are no reason to fail.
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

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/museum"
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
	Demo    demoCommand    `cmd:"" help:"Find, shrink and explain a real deadlock, then show a lock that survives."`
	List    listCommand    `cmd:"" help:"List workloads, their implementations, strategies, and fault kinds."`
	Run     runCommand     `cmd:"" help:"Run scenario files and compare with what they expect."`
	Replay  replayCommand  `cmd:"" help:"Replay one scenario file and tell its story."`
	Diff    diffCommand    `cmd:"" help:"Show where the traces of two scenarios, or two printed traces, part."`
	Sweep   sweepCommand   `cmd:"" help:"Try every single fault at every protocol step of a fault-free run."`
	Fuzz    fuzzCommand    `cmd:"" help:"Hunt with several strategies; make what is found small."`
	Museum  museumCommand  `cmd:"" help:"Find published bugs of coordination recipes again."`
	Conform conformCommand `cmd:"" help:"Compare the built-in server with a running ZooKeeper, answer by answer."`
	Serve   serveCommand   `cmd:"" help:"Serve an in-memory ZooKeeper on TCP, for clients in any language."`
}

// app is what every command gets.
type app struct {
	ctx       context.Context
	workloads fuzz.Catalogue // that can be named on the command line
	files     fuzz.Catalogue // ... and by scenario files
	in        io.Reader      // what a person types
	out       io.Writer
	errors    io.Writer
	progress  *progress
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
	a := &app{ctx: ctx, workloads: fuzz.Workloads(), files: museum.Catalogue(), in: os.Stdin, out: out, errors: stderr, progress: newProgress(stderr)}
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
