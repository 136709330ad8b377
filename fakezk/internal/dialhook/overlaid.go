//go:build zksim_overlay

package dialhook

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
	_ "unsafe" // for go:linkname
)

// Overlaid reports whether the program is built by zksim go.
const Overlaid = true

// These are added to Go's runtime by the overlay.

//go:linkname runtimeSetOwner runtime.zksimSetOwner
func runtimeSetOwner(owner uint64)

//go:linkname runtimeOwner runtime.zksimOwner
func runtimeOwner() (owner uint64, bubbled bool)

// These are added to package net.

//go:linkname netDial net.zksimDial
var netDial func(ctx context.Context, network, address string, deadline time.Time) (
	net.Conn, error, bool)

//go:linkname netAddress net.zksimAddress
var netAddress func(host string) (address string, ok bool)

//go:linkname netName net.zksimName
var netName func(address string) (host string, ok bool)

func init() {
	netDial, netAddress, netName = dial, address, name
}

// owned is the Net of a goroutine, and the number of the one that it had before.
type owned struct {
	Net
	before uint64
}

var (
	mu     sync.Mutex
	owners = map[uint64]owned{}
	calls  uint64 // of Own
)

// Own lets n answer for the calling goroutine, and for those that it starts from now on, until
// release is called.
func Own(n Net) (release func()) {
	before, _ := runtimeOwner()
	mu.Lock()
	defer mu.Unlock()
	calls++
	id := calls
	owners[id] = owned{n, before}
	runtimeSetOwner(id)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		delete(owners, id)
		if now, _ := runtimeOwner(); now == id {
			runtimeSetOwner(before)
		}
	}
}

// errReleased is the error of a dial in a World, or after a test, by a goroutine without a client.
var errReleased = errors.New("zksim: the goroutine that dials was started neither by a client of " +
	"the World nor by a test that still runs")

// ask asks the Nets of the calling goroutine, the newest first, until one has an answer. It returns
// false for a goroutine that has a Net that was released, and for one of a World that has none.
func ask(answers func(Net) bool) (known bool) {
	id, bubbled := runtimeOwner()
	if id == 0 {
		return !bubbled
	}
	for id != 0 {
		mu.Lock()
		n, ok := owners[id]
		mu.Unlock()
		if !ok {
			return false
		}
		if answers(n.Net) {
			break
		}
		id = n.before
	}
	return true
}

func dial(ctx context.Context, _, address string, deadline time.Time) (conn net.Conn, err error,
	ok bool) {
	if known := ask(func(n Net) bool {
		conn, err, ok = n.Dial(ctx, address, deadline)
		return ok
	}); !known {
		return nil, errReleased, true
	}
	return conn, err, ok
}

func address(host string) (address string, ok bool) {
	ask(func(n Net) bool {
		address, ok = n.Address(host)
		return ok
	})
	return address, ok
}

func name(address string) (host string, ok bool) {
	ask(func(n Net) bool {
		host, ok = n.Name(address)
		return ok
	})
	return host, ok
}
