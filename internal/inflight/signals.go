package inflight

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals are those at which a process with notes ends in order: an interrupt, a termination and,
// if the process does not ignore it, the end of its terminal.
func Signals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
