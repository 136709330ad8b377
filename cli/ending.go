package cli

import (
	"context"
	"errors"
	"fmt"
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

// interrupted reports whether an error is that of an interrupt. One that only looks like
// it, for instance of a judge that has given up, is not.
func (a *app) interrupted(err error) bool {
	return a.ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// why says of what has ended some work early, nil for nothing, whether it was an
// interrupt, and what it was if not.
func (a *app) why(ended error) (interrupted bool, text string) {
	switch {
	case ended == nil:
		return false, ""
	case a.interrupted(ended):
		return true, ""
	}
	return false, ended.Error()
}

// howEnded is what a summary adds for what why says.
func howEnded(interrupted bool, text string) string {
	switch {
	case interrupted:
		return "; interrupted"
	case text != "":
		return "; ended by an error"
	}
	return ""
}

// ending is what a command ends with that has told what it knows, and whether that is bad:
// this decides the exit status, and an error is told all the same.
func (a *app) ending(bad bool, err error) error {
	if !bad {
		return err
	}
	if err != nil && !a.interrupted(err) {
		a.tell(err)
	}
	return errViolated
}

// tell tells of an error.
func (a *app) tell(err error) {
	a.progress.clear()
	fmt.Fprintf(a.errors, "%s: %v\n", a.name, err)
}

// status tells what has ended a command and is the exit status that says so.
func (a *app) status(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errViolated):
		return exitViolated
	case a.interrupted(err):
		fmt.Fprintf(a.errors, "%s: interrupted\n", a.name)
		return exitInterrupted
	}
	a.tell(err)
	return exitInput
}
