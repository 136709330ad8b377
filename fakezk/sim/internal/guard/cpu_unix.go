//go:build unix

package guard

import (
	"syscall"
	"time"
)

// processorTime is what this process has used of the processors so far.
func processorTime() (d time.Duration, ok bool) {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0, false
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), true
}
