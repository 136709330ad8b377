package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// most is the number of watches of the largest attack. Tests make it, and the others, smaller.
var most = 3_000_000

const (
	opExists      = 3
	opGetChildren = 8
	opSetWatches  = 101
	opClose       = -11
)

// watchesOf sets watches that wait for the creation of nodes, some 70,000 with each frame.
func watchesOf(n int, name string) (frames [][]byte) {
	const frameBytes = 1_000_000
	perFrame := frameBytes / (4 + len(name) + len("/1234567"))
	for first := 0; first < n; first += perFrame {
		count := min(perFrame, n-first)
		b := binary.BigEndian.AppendUint64(header(-8, opSetWatches), 0)
		b = binary.BigEndian.AppendUint32(b, 0) // no watches for data
		b = binary.BigEndian.AppendUint32(b, uint32(count))
		for i := range count {
			b = appendText(b, fmt.Sprintf("/%s%07d", name, first+i))
		}
		b = binary.BigEndian.AppendUint32(b, 0) // nor for children
		frames = append(frames, sealed(b))
	}
	return frames
}

func someWatches() [][]byte { return watchesOf(min(most, 20_000), "") }
func longWatches() [][]byte { return watchesOf(200, strings.Repeat("x", 300_000)) }
func manyWatches() [][]byte { return watchesOf(most, "") }

// words asks words, one after the other.
func words(times int, words ...string) func(*server, *rawConn) (string, error) {
	return func(s *server, _ *rawConn) (string, error) {
		bytes := int64(0)
		for range times {
			for _, word := range words {
				n, err := askWord(s, word)
				if err != nil {
					return "", err
				}
				bytes += n
			}
		}
		return fmt.Sprintf("%d MB of text", bytes/1_000_000), nil
	}
}

func askWord(s *server, word string) (bytes int64, err error) {
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, word); err != nil {
		return 0, err
	}
	return io.Copy(io.Discard, conn)
}

// closes ends the session of the attacker, and waits a while.
func closes(_ *server, c *rawConn) (string, error) {
	ends, err := c.writeAll([][]byte{sealed(header(1, opClose))})
	if most > 1_000_000 {
		time.Sleep(5 * time.Second)
	}
	return ends, err
}

// longNames makes nodes with long names below / and deletes them.
func longNames() (frames [][]byte) {
	for i := range 60 {
		path := fmt.Sprintf("/%02d%s", i, strings.Repeat("x", 900_000))
		remove := appendText(header(2, opDelete), path)
		frames = append(frames, sealed(appendCreate(header(1, opCreate), path, nil)),
			sealed(binary.BigEndian.AppendUint32(remove, 0xffffffff)))
	}
	return frames
}

// listOfLongNames asks for names of 150 MB.
func listOfLongNames() (frames [][]byte) {
	for i := range 165 {
		path := fmt.Sprintf("/%03d%s", i, strings.Repeat("x", 900_000))
		frames = append(frames, sealed(appendCreate(header(1, opCreate), path, nil)))
	}
	return append(frames, sealed(append(appendText(header(1, opGetChildren), "/"), 0)))
}

func oneNode() [][]byte { return [][]byte{sealed(appendCreate(header(1, opCreate), "/a", nil))} }

// crowd lets 10,000 other connections watch the node's data and its children, and deletes it.
func crowd(s *server, attacker *rawConn) (ends string, err error) {
	var conns []*rawConn
	defer func() {
		for _, c := range conns {
			_ = c.Close() // the server is measured, not this end
		}
	}()
	for range min(10_000, most/30) {
		c, err := rawSession(s.addr, time.Minute)
		if err != nil {
			return "", err
		}
		conns = append(conns, c)
		for _, op := range []int32{opExists, opGetChildren} {
			watch := append(appendText(header(1, op), "/a"), 1)
			if _, err := c.ask(sealed(watch)); err != nil {
				return "", err
			}
		}
	}
	remove := binary.BigEndian.AppendUint32(appendText(header(2, opDelete), "/a"), 0xffffffff)
	if ends, err = attacker.writeAll([][]byte{sealed(remove)}); err != nil {
		return "", err
	}
	for _, c := range conns {
		if err := c.SetDeadline(time.Now().Add(c.timeout)); err != nil {
			return "", err
		}
		if _, err := c.skipReply(); err != nil { // the notification
			return "", err
		}
	}
	return ends, nil
}
