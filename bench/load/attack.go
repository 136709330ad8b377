package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/zksim/zksim/bench/internal/figure"
	"github.com/zksim/zksim/bench/internal/proc"
)

// attackCommand measures what one hostile client costs the others.
//
// Each attack is sent to a new server, while another client pings without a pause. "took" is the
// time to the last reply, or to the end of the attacker's connection. "longest ping" is how long
// the other client waited. The memory is the highest resident memory that was seen.
type attackCommand struct {
	Servers []string `default:"ours,real" help:"Servers to attack."`
}

// An attack is a list of whole frames, each with a reply.
type attack struct {
	name   string
	frames func() [][]byte
}

var attacks = []attack{
	{"20,000 identities (auth)", manyIdentities},
	{"a multi of 8,192 names of one Java hash", oneHash},
	{"an ACL of 20,000 entries, 3 times", longACLs},
	{"a node with 400 levels, made and deleted 100 times below a quota", deepNodes},
	{"a multiRead of 2,500 nodes of 1 MB", hugeReply},
}

// Run attacks one server after the other and prints.
func (c *attackCommand) Run(a *app) error {
	r := report{Header: []string{"attack", "server", "took ms", "longest ping ms", "memory MiB",
		"ends"}}
	missing := map[string]bool{} // the notes on servers
	var measured []*server
	for _, attack := range attacks {
		for _, name := range c.Servers {
			servers, note, err := startServers(a, []string{name}, nil)
			if err != nil {
				return err
			}
			if note != "" {
				missing[note] = true
				continue
			}
			row, err := attack.on(servers[0])
			if err := firstOf(err, servers[0].stop()); err != nil {
				return fmt.Errorf("%s on %s: %w", attack.name, name, err)
			}
			if attack.name == attacks[0].name {
				measured = append(measured, servers[0])
			}
			r.Rows = append(r.Rows, row)
		}
	}
	machine, err := machine(measured)
	if err != nil {
		return err
	}
	r.Notes = append(slices.Sorted(maps.Keys(missing)), machine)
	return r.print(a.out)
}

// on carries out an attack beside a client that pings, and returns its row of the report.
func (k attack) on(s *server) (row []string, err error) {
	attacker, err := rawSession(s.addr, time.Minute)
	if err != nil {
		return nil, err
	}
	defer attacker.Close()
	frames := k.frames()
	w, err := watch(s)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	ends, err := attacker.writeAll(frames)
	took := time.Since(began)
	w.stop()
	if w.err != nil {
		ends = "others lose the server"
	}
	return []string{k.name, s.name, figure.Milliseconds(took), figure.Milliseconds(w.longest),
		figure.Thousands(float64(w.memory >> 20)), ends}, err
}

// writeAll writes frames without waiting, and reads as many replies. It returns how that ends.
func (c *rawConn) writeAll(frames [][]byte) (ends string, err error) {
	if err := c.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return "", err
	}
	go func() {
		buffers := net.Buffers(frames)
		_, _ = buffers.WriteTo(c) // the reader sees the end
	}()
	refused := 0
	for range frames {
		code, err := c.skipReply()
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			return "", fmt.Errorf("no reply within %v: %w", c.timeout, err)
		}
		if err != nil {
			return "connection closed", nil
		}
		if code != 0 {
			refused++
		}
	}
	if refused > 0 {
		return fmt.Sprintf("%d of %d refused", refused, len(frames)), nil
	}
	return "answered", nil
}

// skipReply reads a reply and returns the error code of its header.
func (c *rawConn) skipReply() (code int32, err error) {
	head := make([]byte, 4+headerBytes)
	if _, err := io.ReadFull(c, head); err != nil {
		return 0, err
	}
	length := int64(binary.BigEndian.Uint32(head))
	_, err = io.CopyN(io.Discard, c, length-headerBytes)
	return int32(binary.BigEndian.Uint32(head[4+12:])), err
}

// A watcher pings a server and looks at its memory until it is stopped.
type watcher struct {
	done, ended chan struct{}
	longest     time.Duration
	memory      int64
	err         error // the end of its connection
}

func watch(s *server) (*watcher, error) {
	conn, err := rawSession(s.addr, time.Minute)
	if err != nil {
		return nil, err
	}
	w := &watcher{done: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		defer conn.Close()
		w.err = w.pings(conn, s.pid)
	}()
	return w, nil
}

func (w *watcher) pings(conn *rawConn, pid int) error {
	for {
		began := time.Now()
		err := conn.ping()
		w.longest = max(w.longest, time.Since(began))
		if err != nil {
			return err
		}
		memory, err := proc.ResidentBytes(pid)
		if err != nil {
			return err
		}
		w.memory = max(w.memory, memory)
		select {
		case <-w.done:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
}

func (w *watcher) stop() {
	close(w.done)
	<-w.ended
}
