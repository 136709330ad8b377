//go:build zksim_overlay

package bubble

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
	_ "unsafe" // for go:linkname
)

// Overlaid reports whether the program is built by zksim go: see package internal/overlay.
const Overlaid = true

// These are added to Go's runtime by the overlay.

//go:linkname begin runtime.zksimBegin
func begin(seed uint64)

//go:linkname end runtime.zksimEnd
func end()

//go:linkname runtimeSetOwner runtime.zksimSetOwner
func runtimeSetOwner(owner uint64)

//go:linkname runtimeOwner runtime.zksimOwner
func runtimeOwner() (owner uint64, bubbled bool)

// These are added to package net.

//go:linkname netDial net.zksimDial
var netDial func(ctx context.Context, network, address string, deadline time.Time) (
	net.Conn, error, bool)

//go:linkname netLookup net.zksimLookup
var netLookup func(host string) (address string, ok bool)

func init() {
	netDial, netLookup = dialHook, lookupHook
}

// owners are the dialers of the goroutines.
var (
	ownersMu sync.Mutex
	owners   = map[uint64]Dialer{}
	owned    uint64 // calls of Own
)

// Own lets d make all connections that the calling goroutine, or one that it starts from now on,
// dials by TCP, until release is called. It does so in a bubble of Run only.
func Own(d Dialer) (release func()) {
	ownersMu.Lock()
	defer ownersMu.Unlock()
	owned++
	id := owned
	owners[id] = d
	runtimeSetOwner(id)
	return func() {
		ownersMu.Lock()
		defer ownersMu.Unlock()
		delete(owners, id)
	}
}

// errUnowned is the error of a dial that cannot belong to a client.
var errUnowned = errors.New("zksim: the goroutine that dials was not started by a client of the " +
	"World")

func dialHook(ctx context.Context, _, _ string, deadline time.Time) (net.Conn, error, bool) {
	id, bubbled := runtimeOwner()
	if !bubbled {
		return nil, nil, false
	}
	ownersMu.Lock()
	dial := owners[id]
	ownersMu.Unlock()
	if dial == nil {
		return nil, errUnowned, true
	}
	conn, err := dial(ctx, deadline)
	return conn, err, true
}

// lookupHook gives every host name the same address.
func lookupHook(host string) (string, bool) {
	if _, bubbled := runtimeOwner(); !bubbled {
		return "", false
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return host, true
	}
	return "127.0.0.1", true
}
