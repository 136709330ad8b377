//go:build !unix

package fakezk

import (
	"errors"
	"net"
)

// pollSocket does not exist on this system: each connection has its own buffer, and all its writes
// are made by a goroutine that may wait.
type pollSocket struct{}

func newPollSocket(net.Conn) *pollSocket { return nil }

var errNoPoll = errors.New("fakezk: sockets cannot be polled on this system")

func (*pollSocket) read() (*readBuffer, int, error) { return nil, 0, errNoPoll }
func (*pollSocket) tryWrite(p []byte) (int, error)  { return 0, errNoPoll }
func (*pollSocket) discard()                        {}
