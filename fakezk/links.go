package fakezk

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// links are the connections of a server.
type links struct {
	opts     Options
	recorder *recorder
	names    *sessionNames
	byID     map[engine.ConnID]*link
	origins  map[origin]int // their TCP connections that are served
	last     engine.ConnID
}

// An origin is an IP address, as maxClientCnxns counts its connections to a server.
type origin struct {
	server int
	ip     string
}

func newLinks(opts Options, names *sessionNames, r *recorder) *links {
	return &links{
		opts: opts, names: names, recorder: r,
		byID: map[engine.ConnID]*link{}, origins: map[origin]int{},
	}
}

// open adds a connection, or refuses it if there are as many from its address as maxClientCnxns
// allows. A connection counts from the accept until the server drops it, even if it only asks a
// four-letter word.
//
// Source: NIOServerCnxnFactory, AcceptThread.doAccept.
func (k *links) open(server int, from peer, s sink) (*link, error) {
	if !from.inMemory() {
		at, limit := origin{server, from.ip}, k.opts.MaxClientConns
		if limit > 0 && k.origins[at] >= limit {
			err := fmt.Errorf("fakezk: %s has %d connections already, which is the limit",
				from.ip, limit)
			k.recorder.refusedConn(from, err)
			return nil, err
		}
		k.origins[at]++
	}
	k.last++
	l := &link{
		id: k.last, server: server, peer: from, frames: wire.Splitter{Max: k.opts.MaxFrame},
		sink: s, served: true,
	}
	k.byID[l.id] = l
	return l, nil
}

// leave notes that the server has dropped a connection, so that another of the same address is
// admitted. Faults may hold the rest of it for its client.
func (k *links) leave(l *link) {
	if l.conn == nil {
		delete(k.byID, l.id)
	}
	if !l.served {
		return
	}
	l.served = false
	if at := (origin{l.server, l.peer.ip}); !l.peer.inMemory() {
		if k.origins[at]--; k.origins[at] == 0 {
			delete(k.origins, at)
		}
	}
	k.recorder.lost(l)
}

// forget removes a connection of which nothing is left.
func (k *links) forget(l *link) {
	k.leave(l)
	delete(k.byID, l.id)
}

// get is a connection of which something is left, or nil.
func (k *links) get(id engine.ConnID) *link { return k.byID[id] }

// served is a connection that the server has not dropped, or nil.
func (k *links) served(id engine.ConnID) *link {
	if l := k.byID[id]; l != nil && l.served {
		return l
	}
	return nil
}

// of lists the connections of the given sessions, or all if none is given, in order.
func (k *links) of(sessions ...int64) []*link {
	var list []*link
	for _, id := range slices.Sorted(maps.Keys(k.byID)) {
		l := k.byID[id]
		if len(sessions) == 0 || l.name != "" && slices.ContainsFunc(sessions, func(id int64) bool {
			return k.names.name(id) == l.name
		}) {
			list = append(list, l)
		}
	}
	return list
}
