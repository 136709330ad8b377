package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// startFloor serves canned replies until the test ends.
func startFloor(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &floorServer{conns: map[net.Conn]bool{}}
	served := make(chan error, 1)
	go func() { served <- s.serve(l) }()
	t.Cleanup(func() {
		if err := firstOf(s.close(), <-served); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// decodes are the results that the genuine client must get from the floor's replies.
var decodes = []struct {
	op    string
	check func(c *zk.Conn) error
}{
	{"get", func(c *zk.Conn) error {
		data, stat, err := c.Get("/node")
		good := bytes.Equal(data, nodeData) && stat.DataLength == dataBytes && stat.Pzxid == 1
		return decoded(err, good, stat)
	}},
	{"exists", func(c *zk.Conn) error {
		found, stat, err := c.Exists("/node")
		return decoded(err, found && stat.Czxid == 1 && stat.Mtime > stat.Czxid, stat)
	}},
	{"set", func(c *zk.Conn) error {
		stat, err := c.Set("/node", nodeData, -1)
		return decoded(err, stat != nil && stat.DataLength == dataBytes, stat)
	}},
	{"create", func(c *zk.Conn) error {
		path, err := c.Create("/fresh/00000001", nodeData, 0, openACL)
		return decoded(err, path == "/fresh/00000001", path)
	}},
	{"children", func(c *zk.Conn) error {
		names, stat, err := c.Children("/kids")
		good := len(names) == childCount && names[childCount-1] == childName(childCount-1)
		return decoded(err, good && stat.Mzxid == 1, names)
	}},
	{"multi", func(c *zk.Conn) error {
		results, err := c.Multi(&zk.CheckVersionRequest{Path: "/a"},
			&zk.SetDataRequest{Path: "/a"}, &zk.SetDataRequest{Path: "/b"})
		return decoded(err, len(results) == 3 && results[2].Stat.DataLength == dataBytes, results)
	}},
	{"getACL", func(c *zk.Conn) error {
		acl, _, err := c.GetACL("/node")
		return decoded(err, len(acl) == 1 && acl[0] == openACL[0], acl)
	}},
	{"sync", func(c *zk.Conn) error {
		path, err := c.Sync("/node")
		return decoded(err, path == "/node", path)
	}},
}

func decoded(err error, good bool, got any) error {
	if err == nil && !good {
		err = fmt.Errorf("decoded as %+v", got)
	}
	return err
}

func TestGenuineClientDecodesTheFloor(t *testing.T) {
	conns, err := connect(t.Context(), startFloor(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(conns)
	for _, d := range decodes {
		if err := d.check(conns[0]); err != nil {
			t.Errorf("%s: %v", d.op, err)
		}
	}
	for _, op := range operations {
		w := &worker{
			conn: conns[0], node: "/node", second: "/second", fresh: "/fresh", children: "/kids",
			asked: 9,
		}
		if err := op.do(w); err != nil {
			t.Errorf("%s: %v", op.name, err)
		}
	}
	if err := conns[0].Delete("/node", -1); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// TestWrongReplyIsNotDecoded is the control of the test above: every check fails if
// the replies belong to other requests.
func TestWrongReplyIsNotDecoded(t *testing.T) {
	misdial := func(network, addr string, timeout time.Duration) (net.Conn, error) {
		c, err := net.DialTimeout(network, addr, timeout)
		return &wrongPing{Conn: c}, err
	}
	c, err := connectOne(t.Context(), misdial, startFloor(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, d := range decodes {
		if err := d.check(c); err == nil {
			t.Errorf("%s: a reply without a body passes", d.op)
		}
	}
}

// wrongPing turns each request but the first into a ping.
type wrongPing struct {
	net.Conn
	greeted bool
}

func (c *wrongPing) Write(p []byte) (int, error) {
	if c.greeted {
		p = bytes.Clone(p)
		binary.BigEndian.PutUint32(p[8:], 11)
	}
	c.greeted = true
	return c.Conn.Write(p)
}

// request is a frame with an operation and a path.
func request(xid, op int32, path string) []byte {
	return sealed(append(appendText(header(xid, op), path), 0))
}

func TestFloorAnswersEachFrameHoweverItArrives(t *testing.T) {
	const requests = 500 // the replies need more than one buffer
	var stream []byte
	for xid := range int32(requests) {
		stream = append(stream, request(xid, opGetChildren2, "/kids")...)
	}
	for _, piece := range []int{len(stream), 1000, 7} {
		c, err := rawSession(startFloor(t), sessionTimeout)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for at := 0; at < len(stream); at += piece {
				if _, err := c.Write(stream[at:min(at+piece, len(stream))]); err != nil {
					return // the reader fails
				}
			}
		}()
		reply := make([]byte, len(canned[opGetChildren2]))
		for xid := range uint32(requests) {
			if _, err := io.ReadFull(c, reply); err != nil {
				t.Fatalf("in pieces of %d: reply %d: %v", piece, xid, err)
			}
			if got := binary.BigEndian.Uint32(reply[4:]); got != xid {
				t.Fatalf("in pieces of %d: reply %d has xid %d", piece, xid, got)
			}
		}
		if err := firstOf(c.ping(), c.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestFloorSurvivesGarbage(t *testing.T) {
	addr := startFloor(t)
	for _, garbage := range []string{
		"\x00\x00\x00\x00", "\x00\x00\x00\x01x",
		"\xff\xff\xff\xff" + strings.Repeat("x", floorBuffer),
		"\x00\x00\x00\x0e\x00\x00\x00\x01\x00\x00\x00\x01\x7f\xff\xff\xffab",
	} {
		c, err := rawSession(addr, sessionTimeout)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, garbage); err != nil {
			t.Logf("write: %v", err) // the server may hang up before it has read all
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), sessionTimeout)
	defer cancel()
	conns, err := connect(ctx, addr, 1)
	if err != nil {
		t.Fatal(err)
	}
	closeAll(conns)
}

func TestFloorAllocatesNothing(t *testing.T) {
	out := make([]byte, 0, floorBuffer)
	for _, op := range []int32{opGetData, opCreate, opGetChildren2, opMulti, 11} {
		frame := request(1, op, "/node")[4:]
		if n := testing.AllocsPerRun(100, func() { out = appendCanned(out[:0], frame) }); n != 0 {
			t.Errorf("operation %d: %v allocations", op, n)
		}
	}
}
