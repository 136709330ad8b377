//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package command

import "os"

// terminal reports whether f is a terminal. Its number of columns is unknown on this system.
func terminal(f *os.File) (columns int, is bool) {
	info, err := f.Stat()
	return 0, err == nil && info.Mode()&os.ModeCharDevice != 0
}
