// Package dialhook lets dials by TCP and look-ups of hosts reach a server in memory, in a program
// that is built by zksim go: see package internal/overlay. In any other program it does nothing.
//
// [Own] gives the calling goroutine a [Net]. Each goroutine that it starts from then on inherits
// it, and so on. A Net that has no answer leaves the question to the Net that the goroutine had
// before, and the first one to the real network.
package dialhook

import (
	"context"
	"net"
	"time"
)

// Net answers for the network. A result ok of false is no answer.
type Net struct {
	// Dial makes the connection of a dial by TCP to host:port. A deadline that is zero is none.
	Dial func(ctx context.Context, address string, deadline time.Time) (conn net.Conn, err error,
		ok bool)
	// Address is the IP address of a host, which may be one already.
	Address func(host string) (address string, ok bool)
	// Name is the name of a host with an IP address, "" if it has none.
	Name func(address string) (host string, ok bool)
}
