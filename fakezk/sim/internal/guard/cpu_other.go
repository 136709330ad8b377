//go:build !unix

package guard

import "time"

// processorTime is not known here: real time counts.
func processorTime() (d time.Duration, ok bool) { return 0, false }
