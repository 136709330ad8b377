package bubble

import "runtime"

// Stacks returns the stacks of all goroutines of the process.
func Stacks() string {
	// Most stacks take less than a kilobyte. A pass over thousands takes long: the first should be
	// the last.
	size := (runtime.NumGoroutine() + 64) << 10
	for buf := make([]byte, size); ; buf = make([]byte, 2*len(buf)) {
		if n := runtime.Stack(buf, true); n < len(buf) {
			return string(buf[:n])
		}
	}
}
