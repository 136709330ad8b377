package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// checkPorts checks an address for a number of servers, whose ports follow one another.
func checkPorts(addr string, servers int) error {
	_, port, err := net.SplitHostPort(addr)
	number := 0
	if err == nil {
		number, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fmt.Errorf("%q; expected HOST:PORT with a port from 0 to %d", addr, maxPort)
	}
	if last := number + servers - 1; last > maxPort {
		return fmt.Errorf("%s: %d servers need the ports up to %d; expected a port up to %d", addr,
			servers, last, maxPort-servers+1)
	}
	return nil
}

const maxPort = 1<<16 - 1

// listenAll opens a port for each server: the port of an address and those that follow it, or free
// ones for port 0.
func listenAll(addr string, servers int) (_ []net.Listener, err error) {
	var listeners []net.Listener
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(listeners))
		}
	}()
	for len(listeners) < servers {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return listeners, err
		}
		listeners = append(listeners, l)
		if addr, err = following(addr); err != nil {
			return listeners, err
		}
	}
	return listeners, nil
}

// following is the address with the next port, with port 0 after port 0.
func following(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return "", err
	}
	if number > 0 {
		number++
	}
	return net.JoinHostPort(host, strconv.Itoa(number)), nil
}

// closeAll closes listeners, of which some may be closed already.
func closeAll(listeners []net.Listener) error {
	var errs []error
	for _, l := range listeners {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// addressesOf are the addresses of listeners, of server 1 first.
func addressesOf(listeners []net.Listener) []string {
	var list []string
	for _, l := range listeners {
		list = append(list, l.Addr().String())
	}
	return list
}

// withTLS lets listeners speak TLS, if there is a configuration.
func withTLS(listeners []net.Listener, config *tls.Config) []net.Listener {
	if config == nil {
		return listeners
	}
	var list []net.Listener
	for _, l := range listeners {
		list = append(list, tls.NewListener(l, config))
	}
	return list
}

// connectString is the address of an ensemble in the form that clients take.
func connectString(addresses []string) string { return strings.Join(addresses, ",") }
