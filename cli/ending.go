package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Exit statuses.
const (
	exitOK          = 0
	exitViolated    = 1
	exitInput       = 2
	exitInterrupted = 130
)

// errViolated ends a command that has printed its finding.
var errViolated = errors.New("violated")

// interrupted reports whether an error comes from an interrupt of the command. A context.Canceled
// of, for instance, a judge does not.
func (a *app) interrupted(err error) bool {
	return a.ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// why reports whether the error that ended some work early is an interrupt. If not, it returns the
// text of the error.
func (a *app) why(ended error) (interrupted bool, text string) {
	switch {
	case ended == nil:
		return false, ""
	case a.interrupted(ended):
		return true, ""
	}
	return false, ended.Error()
}

// howEnded is the end of a summary; its arguments are the results of why.
func howEnded(interrupted bool, text string) string {
	switch {
	case interrupted:
		return "; interrupted"
	case text != "":
		return "; ended by an error"
	}
	return ""
}

// ending is the error of a command that has printed its results. Bad results decide the exit
// status; an error besides is printed here.
func (a *app) ending(bad bool, err error) error {
	if !bad {
		return err
	}
	if err != nil && !a.interrupted(err) {
		a.printError(err)
	}
	return errViolated
}

// printError prints an error.
func (a *app) printError(err error) {
	a.progress.clear()
	fmt.Fprintf(a.errors, "%s: %v\n", a.name, err)
	a.printed = append(a.printed, err)
}

// printLeftNodes prints which nodes are left on a running ensemble. It leaves out those that a
// printed error has named.
func (a *app) printLeftNodes() {
	for _, node := range a.on.Left() {
		if !slices.ContainsFunc(a.printed, func(err error) bool { return errors.Is(err, node) }) {
			a.printError(node)
		}
	}
}

// status prints the error that ended a command, and returns the exit status.
func (a *app) status(err error) int {
	defer a.printLeftNodes()
	var other goStatus
	switch {
	case errors.As(err, &other):
		return int(other)
	case err == nil:
		return exitOK
	case errors.Is(err, errViolated):
		return exitViolated
	case a.interrupted(err):
		fmt.Fprintf(a.errors, "%s: interrupted\n", a.name)
		return exitInterrupted
	}
	a.printError(err)
	return exitInput
}
