package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/bench/internal/figure"
	"github.com/zksim/zksim/bench/internal/proc"
)

// attackCommand measures what one hostile client costs the others.
//
// Each attack is sent to a new server (ours-3: one of an ensemble of three in one process), while
// five other clients ping without a pause. "took" is the time to the last reply, or to the end of
// the attacker's connection. "longest ping" is how long one of the others waited. The memory is the
// resident memory before the attack, the highest that was seen, and that ten seconds later. A
// second table has the attacks on the control endpoint.
type attackCommand struct {
	Servers []string `default:"ours,ours-3,real" help:"Servers to attack; ours-3 are an ensemble."`
}

// An attack is a list of whole frames, each with a reply, and then a strike, if there is one.
type attack struct {
	name   string
	frames func() [][]byte
	strike func(s *server, attacker *rawConn) (ends string, err error)
}

var attacks = []attack{
	{"20,000 identities (auth)", manyIdentities, nil},
	{"a multi of 8,192 names of one Java hash", oneHash, nil},
	{"an ACL of 20,000 entries, 3 times", longACLs, nil},
	{"a node with 400 levels, made and deleted 100 times below a quota", deepNodes, nil},
	{"a multiRead of 2,500 nodes of 1 MB", hugeReply, nil},
	{"20,000 watches, then wchp and wchc 10 times", someWatches, words(10, "wchp", "wchc")},
	{"200 watches of 300 KB, then wchp and wchc", longWatches, words(1, "wchp", "wchc")},
	{"3 million watches, and the end of their session", manyWatches, closes},
	{"10,000 connections that watch one node, and its end", oneNode, crowd},
	{"60 names of 900 KB, made and deleted", longNames, nil},
	{"a list of 150 MB of names", listOfLongNames, nil},
}

// Run attacks one server after the other and prints.
func (c *attackCommand) Run(a *app) error {
	r := report{Header: []string{"attack", "server", "took ms", "longest ping ms",
		"MiB before", "highest", "after", "ends"}}
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
			fmt.Fprintln(a.errors, strings.Join(row, ", "))
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
	if err := r.print(a.out); err != nil {
		return err
	}
	return attackControl(a)
}

// pingers is the number of clients beside an attack.
const pingers = 5

// on carries out an attack beside clients that ping, and returns its row of the report.
func (k attack) on(s *server) (row []string, err error) {
	attacker, err := rawSession(s.addr, time.Minute)
	if err != nil {
		return nil, err
	}
	defer attacker.Close()
	frames := k.frames()
	before, err := proc.ResidentBytes(s.pid)
	if err != nil {
		return nil, err
	}
	var watchers []*watcher
	for i := range pingers {
		w, err := watch(s, i)
		if err != nil {
			return nil, err
		}
		watchers = append(watchers, w)
	}
	began := time.Now()
	ends, err := attacker.writeAll(frames)
	if err == nil && k.strike != nil {
		ends, err = k.strike(s, attacker)
	}
	took := time.Since(began)
	longest, highest := time.Duration(0), int64(0)
	for _, w := range watchers {
		w.stop()
		longest, highest = max(longest, w.longest), max(highest, w.memory)
		if w.err != nil {
			ends = "others lose the server"
		}
	}
	if err != nil {
		return nil, err
	}
	if most > 1_000_000 {
		time.Sleep(10 * time.Second)
	}
	after, err := proc.ResidentBytes(s.pid)
	if errors.Is(err, fs.ErrNotExist) {
		ends, err = "the server has ended", nil
	}
	mebibytes := func(n int64) string { return figure.Thousands(float64(n >> 20)) }
	return []string{k.name, s.name, figure.Milliseconds(took), figure.Milliseconds(longest),
		mebibytes(before), mebibytes(highest), mebibytes(after), ends}, err
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

// watch connects to one of the servers, in turn.
func watch(s *server, i int) (*watcher, error) {
	addresses := append([]string{s.addr}, s.others...)
	conn, err := rawSession(addresses[i%len(addresses)], time.Minute)
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
