//go:build unix

package fakezk

import (
	"io"
	"net"
	"syscall"
)

// pollSocket reads and writes a socket at the moment it is ready. A waiting read needs no buffer,
// so that an idle connection has none. A write takes the bytes that fit and does not wait.
type pollSocket struct {
	raw syscall.RawConn
	in  struct {
		try func(fd uintptr) bool // made once, so that a read allocates nothing
		buf *readBuffer
		n   int
		err error
	}
	out struct {
		try func(fd uintptr) bool
		p   []byte
		n   int
		err error
	}
}

// newPollSocket returns nil if conn is no TCP connection.
func newPollSocket(conn net.Conn) *pollSocket {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	s := &pollSocket{raw: raw}
	s.in.try, s.out.try = s.readOnce, s.writeOnce
	return s
}

// readOnce reads once. It reports false if there is nothing to read.
func (s *pollSocket) readOnce(fd uintptr) bool {
	buf := readBuffers.Get().(*readBuffer)
	n, err := again(int(fd), buf[:], syscall.Read)
	if err == syscall.EAGAIN {
		readBuffers.Put(buf)
		return false
	}
	if n == 0 && err == nil {
		err = io.EOF
	}
	s.in.buf, s.in.n, s.in.err = buf, max(n, 0), err
	return true
}

// read waits for bytes and returns them in a buffer of readBuffers, which is nil if there are none.
func (s *pollSocket) read() (*readBuffer, int, error) {
	s.in.buf, s.in.n, s.in.err = nil, 0, nil
	err := s.raw.Read(s.in.try)
	buf := s.in.buf
	s.in.buf = nil
	if err == nil {
		err = s.in.err
	}
	return buf, s.in.n, err
}

func (s *pollSocket) writeOnce(fd uintptr) bool {
	s.out.n, s.out.err = again(int(fd), s.out.p, syscall.Write)
	return true
}

// tryWrite writes as much as fits now.
func (s *pollSocket) tryWrite(p []byte) (int, error) {
	s.out.p, s.out.n, s.out.err = p, 0, nil
	err := s.raw.Write(s.out.try)
	s.out.p = nil
	if err == nil {
		err = s.out.err
	}
	if err == syscall.EAGAIN {
		err = nil
	}
	return max(s.out.n, 0), err
}

// discard reads and drops the bytes that have arrived, up to 16 MiB.
func (s *pollSocket) discard() {
	buf := readBuffers.Get().(*readBuffer)
	defer readBuffers.Put(buf)
	more := true
	for range (16 << 20) / len(buf) {
		err := s.raw.Read(func(fd uintptr) bool {
			n, err := again(int(fd), buf[:], syscall.Read)
			more = n > 0 && err == nil
			return true
		})
		if err != nil || !more {
			return
		}
	}
}

// again makes a system call until no signal interrupts it.
func again(fd int, p []byte, call func(int, []byte) (int, error)) (int, error) {
	for {
		n, err := call(fd, p)
		if err != syscall.EINTR {
			return n, err
		}
	}
}
