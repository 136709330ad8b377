package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/zksim/zksim/cli/check"
	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/cli/replay"
	"github.com/zksim/zksim/cli/serve"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/fuzz/show"
	"github.com/zksim/zksim/internal/ballast"
	"github.com/zksim/zksim/internal/inflight"
	"github.com/zksim/zksim/internal/spelling"
)

// commands are the commands with their flags, as kong parses them.
type commands struct {
	Demo       demoCommand        `cmd:"" help:"Find, shrink and explain a real deadlock, then show a lock that survives."`
	List       listCommand        `cmd:"" help:"List workloads, their implementations, strategies, and fault kinds."`
	Run        replay.RunCommand  `cmd:"" help:"Run scenario files and compare the results with their expectations."`
	Replay     replay.Command     `cmd:"" help:"Replay one scenario file and tell its story."`
	Diff       replay.DiffCommand `cmd:"" help:"Show where the traces of two scenarios, or two printed traces, part."`
	Check      check.Command      `cmd:"" help:"Judge a history that was recorded elsewhere."`
	Sweep      sweepCommand       `cmd:"" help:"Try every single fault at every protocol step of a fault-free run."`
	Prove      proveCommand       `cmd:"" help:"Play every run of a small script: every order of messages that a client can tell, every fault."`
	Fuzz       fuzzCommand        `cmd:"" help:"Hunt with several strategies; make findings small."`
	Merge      mergeCommand       `cmd:"" help:"Unite the reports of shards."`
	Gallery    galleryCommand     `cmd:"" help:"Find published bugs of coordination recipes again."`
	Go         goCommand          `cmd:"" passthrough:"" help:"Run go test, run, build, vet, install, list or generate so that any code runs in virtual time."`
	Conform    conformCommand     `cmd:"" help:"Compare the built-in server with a running ZooKeeper, answer by answer."`
	Serve      serve.Command      `cmd:"" help:"Serve an in-memory ZooKeeper on TCP, for clients in any language."`
	Dump       serve.DumpCommand  `cmd:"" help:"Print the tree of a running ZooKeeper, for serve --load and for tests."`
	Completion completionCommand  `cmd:"" help:"Print the completion script of a shell: bash, zsh or fish."`

	Version kong.VersionFlag `help:"Print the version and exit."`
}

// app is the environment of a command, with the workloads.
type app struct {
	*command.Env
	workloads scenario.Catalogue // known to the command line
	files     scenario.Catalogue // known to scenario files: the same and those of the gallery
}

// Main runs the command with the arguments of the process, and ends the process with the exit
// status. The command knows the given workloads beside those built in. A workload without an Impl
// gets the name of the program as its implementation: mylock, and mylock-2, mylock-3 for further
// workloads of the same kind. The exit status is 2 if a workload has no Name, no Play or no Judge,
// or if another one has its Name and Impl.
func Main(own ...scenario.Workload) {
	ballast.Hold() // until the process ends
	name, args := commandLine(os.Args)
	call := name
	if info, ok := debug.ReadBuildInfo(); ok {
		call = calledBy(os.Args, name, info)
	}
	if dir := os.Getenv(inflight.Variable); dir != "" {
		os.Exit(serveNotes(dir, func(ctx context.Context, watch func(time.Duration)) int {
			return program{name: name, call: call, own: own, watch: watch}.
				run(ctx, args, os.Stdout, os.Stderr)
		}))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	p := program{name: name, call: call, own: own, supervises: true}
	os.Exit(p.run(ctx, args, os.Stdout, os.Stderr))
}

// program is the command with the workloads given to Main.
type program struct {
	name string
	call string // what a shell calls it by, if that is not the name
	own  []scenario.Workload
	// supervises says that scenarios are played in a second process.
	supervises bool
	// watch, in the second process, ends it after the first one. It is called with the time that it
	// may go on then.
	watch func(grace time.Duration)
}

// commandLine is the name of the program, zksim if it is unknown, and its arguments.
func commandLine(args []string) (string, []string) {
	if len(args) == 0 {
		return "zksim", nil
	}
	return strings.TrimSuffix(filepath.Base(args[0]), ".exe"), args[1:]
}

// cached is the directory of a program in the cache of go tool and go run.
var cached = regexp.MustCompile(`^[0-9a-f]{64}-d$`)

// calledBy is what a shell calls the program by: go tool and go run leave no program of the name on
// the path.
func calledBy(args []string, name string, info *debug.BuildInfo) string {
	if len(args) == 0 || !strings.Contains(info.Path, "/") {
		return name
	}
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(args[0])), "/")
	last, n := dirs[len(dirs)-1], len(dirs)-3
	if !cached.MatchString(last) && (last != "exe" || n < 0 || !strings.HasPrefix(dirs[n], "go-build")) {
		return name
	}
	call := "go run " + info.Path
	if v := info.Main; v.Replace == nil && strings.HasPrefix(v.Version, "v") &&
		!strings.Contains(v.Version, "+") {
		call += "@" + v.Version // outside of a module, too
	}
	return call
}

// run runs the command and returns the exit status.
func (p program) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	env := command.NewEnv(ctx, p.name, os.Stdin, stdout, stderr)
	env.Call = cmp.Or(p.call, p.name)
	status := p.runIn(env, args)
	if err := env.OutputError(); err != nil {
		fmt.Fprintf(stderr, "%s: write output: %v\n", p.name, err)
		return command.ExitMachine
	}
	return status
}

// runIn is run, but errors of the output are left to the caller.
func (p program) runIn(env *command.Env, args []string) int {
	a, err := newApp(env, p.own)
	if err != nil {
		env.PrintError(err)
		return command.ExitInput
	}
	exited := -1
	c := new(commands)
	helpTo := env.Raw
	if len(args) == 0 {
		helpTo = env.Errors
	}
	parsed, err := p.parser(c, helpTo, env.Errors, &exited).Parse(withoutWords(args))
	if err == nil {
		err = spelling.Variables(os.Environ(), []string{"ZKSIM_SHARD"})
	}
	switch {
	case env.OutputError() != nil: // run prints it
		return command.ExitMachine
	case exited >= 0 && len(args) == 0:
		return command.ExitInput
	case exited >= 0: // --help or --version
		return exited
	case err != nil:
		env.PrintError(fmt.Errorf("%w (see %s --help)", err, env.Call))
		return command.ExitInput
	}
	if p.supervises && supervised.MatchString(parsed.Command()) {
		first := supervisor{env, c, a.files.Find}
		if status, ok := first.run(args); ok {
			return status
		}
	}
	if p.watch != nil {
		go p.watch(c.grace())
	}
	err = parsed.Run(a, env, replay.NewPlayer(env, a.files.Find))
	env.Progress.Clear()
	show.Flush(env.Text)
	if env.OutputError() != nil {
		return command.ExitMachine
	}
	return env.ExitStatus(err)
}

// withoutWords are the arguments with flags in place of the words help and version. Without
// arguments the command shows its help.
func withoutWords(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case args[0] == "version" && len(args) == 1:
		return []string{"--version"}
	}
	return args
}

// parser parses the command line into c. It sets exited to the exit status if the command ends
// after parsing, as --help does.
func (p program) parser(c *commands, out, stderr io.Writer, exited *int) *kong.Kong {
	parser, err := kong.New(c,
		kong.Name(p.name),
		kong.Description("Breaks coordination code on purpose, on a simulated ZooKeeper."),
		kong.Writers(out, stderr),
		kong.Vars{"version": version(p.name, debug.ReadBuildInfo)},
		kong.Exit(func(status int) { *exited = status }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // a wrong struct tag in commands
	}
	return parser
}
