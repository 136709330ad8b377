//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package command

import (
	"os"
	"syscall"
	"unsafe"
)

// terminal reports whether f is a terminal, and its number of columns, 0 if that is unknown.
func terminal(f *os.File) (columns int, is bool) {
	var size struct{ rows, columns, width, height uint16 } // of the C library: struct winsize
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCGWINSZ,
		uintptr(unsafe.Pointer(&size)))
	return int(size.columns), errno == 0
}
