package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// commands is what kong parses the arguments into.
type commands struct {
	Demo    demoCommand    `cmd:"" help:"Find, shrink and explain a real deadlock, then show a lock that survives."`
	List    listCommand    `cmd:"" help:"List workloads, their implementations, strategies, and fault kinds."`
	Run     runCommand     `cmd:"" help:"Run scenario files and compare with what they expect."`
	Replay  replayCommand  `cmd:"" help:"Replay one scenario file and tell its story."`
	Diff    diffCommand    `cmd:"" help:"Show where the traces of two scenarios, or two printed traces, part."`
	Sweep   sweepCommand   `cmd:"" help:"Try every single fault at every protocol step of a fault-free run."`
	Fuzz    fuzzCommand    `cmd:"" help:"Hunt with several strategies; make what is found small."`
	Gallery galleryCommand `cmd:"" help:"Find published bugs of coordination recipes again."`
	Conform conformCommand `cmd:"" help:"Compare the built-in server with a running ZooKeeper, answer by answer."`
	Serve   serveCommand   `cmd:"" help:"Serve an in-memory ZooKeeper on TCP, for clients in any language."`

	Version kong.VersionFlag `help:"Print the version and exit."`
}

// app is what every command gets.
type app struct {
	name      string // of the command, as people type it
	ctx       context.Context
	workloads scenario.Catalogue // that can be named on the command line
	files     scenario.Catalogue // ... and by scenario files
	in        io.Reader          // what a person types
	out       io.Writer
	errors    io.Writer
	progress  *progress
}

// Main runs the command with the arguments of the process, and ends the process
// with the exit status. Workloads of one's own are known to it beside those built
// in, after those of their kind; scenario files may name these, and those of the
// gallery. It is an error, with status 2, if one of them has no name, no
// implementation or no script and judge, or bears the names of one that is known.
func Main(own ...scenario.Workload) {
	// The client allocates megabytes for each connection; collecting them less
	// often makes runs about twice as fast.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	os.Exit(program{nameOf(os.Args), own}.run(ctx, arguments(os.Args), os.Stdout, os.Stderr))
}

// program is the command as somebody has built it.
type program struct {
	name string // that people type
	own  []scenario.Workload
}

// nameOf is what the process was started as, zksim if that is not known.
func nameOf(args []string) string {
	if len(args) == 0 {
		return "zksim"
	}
	return strings.TrimSuffix(filepath.Base(args[0]), ".exe")
}

// arguments are those after the name.
func arguments(args []string) []string { return args[min(1, len(args)):] }

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
func (p program) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c commands
	exited := -1
	parser, err := kong.New(&c,
		kong.Name(p.name),
		kong.Description("Breaks coordination code on purpose, on a simulated ZooKeeper."),
		kong.Writers(stdout, stderr),
		kong.Vars{"version": version(p.name, debug.ReadBuildInfo)},
		kong.Exit(func(code int) { exited = code }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // a wrong struct tag of ours
	}
	out := &firstError{to: stdout}
	a, err := p.app(ctx, out, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", p.name, err)
		return exitInput
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 { // --help
		return exited
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v (see %s --help)\n", p.name, err, p.name)
		return exitInput
	}
	err = parsed.Run(a)
	a.progress.clear()
	if out.err != nil {
		fmt.Fprintf(stderr, "%s: write output: %v\n", p.name, out.err)
		return exitViolated
	}
	return a.status(err)
}

// app is what the commands work with.
func (p program) app(ctx context.Context, out, stderr io.Writer) (*app, error) {
	a := &app{name: p.name, ctx: ctx, in: os.Stdin, out: out, errors: stderr, progress: newProgress(stderr)}
	for _, w := range p.own {
		if w.Name == allWorkloads {
			return nil, fmt.Errorf("workload %s %s: %q stands for all of them; expected another name", w.Name, w.Impl, allWorkloads)
		}
	}
	var err error
	if a.workloads, err = object.Workloads().With(p.own...); err != nil {
		return nil, err
	}
	if a.files, err = gallery.Catalogue().With(p.own...); err != nil {
		return nil, err
	}
	return a, nil
}
