// Package command has the frame of a command: its end by a signal, and its flags.
package command

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

// Main runs a command until it ends, or a signal interrupts it; a second signal kills it.
func Main(name string, run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// ErrHelp is the error of Parse if the arguments ask for help, which is printed.
var ErrHelp = errors.New("help")

// Parse reads the flags of a command into a struct with tags of kong.
func Parse(flags any, out, errs io.Writer, args []string, options ...kong.Option) (
	parsed *kong.Context, err error,
) {
	helped := false
	options = append(options, kong.Writers(out, errs), kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	parser, err := kong.New(flags, options...)
	if err != nil {
		panic(err) // a wrong struct tag of ours
	}
	parsed, err = parser.Parse(args)
	if helped {
		return nil, ErrHelp
	}
	return parsed, err
}
