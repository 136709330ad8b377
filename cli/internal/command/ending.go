package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
)

// Exit statuses.
const (
	ExitOK          = 0
	ExitViolated    = 1
	ExitInput       = 2
	ExitMachine     = 3 // of the machine: the same command may do better
	ExitInterrupted = 130
)

// ErrViolated ends a command that has printed its finding.
var ErrViolated = errors.New("violated")

// Interrupted reports whether an error comes from an interrupt of the command. A context.Canceled
// of, for instance, a judge does not.
func (e *Env) Interrupted(err error) bool {
	return e.Context.Err() != nil && errors.Is(err, context.Canceled)
}

// EndedBy reports whether the error that ended some work early is an interrupt. If not, it returns
// the text of the error.
func (e *Env) EndedBy(ended error) (interrupted bool, text string) {
	switch {
	case ended == nil:
		return false, ""
	case e.Interrupted(ended):
		return true, ""
	}
	return false, ended.Error()
}

// EndText is the end of a summary; its arguments are the results of EndedBy.
func EndText(interrupted bool, text string) string {
	switch {
	case interrupted:
		return "; interrupted"
	case text != "":
		return "; ended by an error"
	}
	return ""
}

// Ending is the error of a command that has printed its results. Bad results decide the exit
// status; an error besides is printed here.
func (e *Env) Ending(bad bool, err error) error {
	if !bad {
		return err
	}
	if err != nil && !e.Interrupted(err) {
		e.PrintError(err)
	}
	return ErrViolated
}

// A Status is the error of a command that has printed everything and ends with an exit status.
type Status int

func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// ExitStatus prints the error that ended a command, and returns the exit status.
func (e *Env) ExitStatus(err error) int {
	defer e.printLeftNodes()
	var other Status
	switch {
	case errors.As(err, &other):
		return int(other)
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrViolated):
		return ExitViolated
	case e.Interrupted(err):
		fmt.Fprintf(e.Errors, "%s: interrupted\n", e.Name)
		return ExitInterrupted
	}
	e.PrintError(err)
	if errors.Is(err, syscall.ENOSPC) {
		return ExitMachine
	}
	return ExitInput
}

// printLeftNodes prints which nodes are left on a running ensemble. It leaves out those that a
// printed error has named.
func (e *Env) printLeftNodes() {
	for _, node := range e.On.Left() {
		if !slices.ContainsFunc(e.printed, func(err error) bool { return errors.Is(err, node) }) {
			e.PrintError(node)
		}
	}
}
