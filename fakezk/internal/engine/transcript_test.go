package engine

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

var update = flag.Bool("update", false, "write the expected results of testdata anew")

// realVariable names an environment variable with the address of a real ZooKeeper 3.8,
// on which the transcripts are then played. It must be a fresh one for each run, with
// -Dzookeeper.extendedTypesEnabled=true and
// -Dzookeeper.DigestAuthenticationProvider.superDigest=super:0bX78nEegDzJM3ju0iLBEJdWzjg=
const realVariable = "ENGINE_REAL_ZOOKEEPER"

// TestTranscripts plays testdata/*.txt. A block begins with a line "# title". A command
// is the number of a connection and a request (see parse_test.go); its outputs are
// indented below, by connection, in order. $ stands for a node that each block creates. A title
// that ends with "(mark: NAME)" expects a mark of package marks.
func TestTranscripts(t *testing.T) {
	real := os.Getenv(realVariable)
	for _, file := range transcripts(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			check.OK(t, err)
			open := openEngine
			if real != "" {
				open = func(t *testing.T) server { return dialReal(t, real) }
			}
			got := play(t, name, string(text), open)
			if *update && real == "" {
				check.OK(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			if diff := cmp.Diff(
				strings.Split(string(text), "\n"), strings.Split(got, "\n"),
			); diff != "" {
				t.Errorf("(-transcript +server)\n%s", diff)
			}
		})
	}
}

// TestTranscriptsCanFail shows that play finds a difference.
func TestTranscriptsCanFail(t *testing.T) {
	const text = "# exists leaves a watch\n1 exists $/a w\n  1: NoNode\n" +
		"2 create $/a\n  1: event NodeCreated $/a\n  2: $/a\n"
	if got := play(t, "x", text, openEngine); got != text {
		t.Fatalf("played %q", got)
	}
	unwatched := strings.Replace(text, " w\n", "\n", 1)
	if got := play(t, "x", unwatched, openEngine); got == unwatched {
		t.Errorf("an event without a watch is not found: %q", got)
	}
}

func transcripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("transcripts: %v, %d files", err, len(files))
	}
	return files
}

// A server is the engine or a real ZooKeeper.
type server interface {
	// connect opens connection n, with the session of connection old or, for
	// newSession, with a new one.
	connect(n, old int) []line
	// ask sends a frame on connection n and returns all outputs.
	ask(n int, frame []byte) []line
	close()
}

const newSession = -1

// A line is a frame that connection n received, nil for its end.
type line struct {
	conn  int
	frame []byte
}

// play carries out the commands of a transcript and returns it with the actual outputs.
func play(t *testing.T, name, text string, open func(*testing.T) server) string {
	t.Helper()
	var out strings.Builder
	var p *player
	for i, row := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(row, "  ") {
			continue
		}
		fmt.Fprintln(&out, row)
		switch {
		case strings.HasPrefix(row, "#"):
			p.close()
			p = newPlayer(t, open(t), fmt.Sprintf("/%s%d", name, i))
			p.expectMark(row)
		case row != "":
			for _, output := range p.command(row) {
				fmt.Fprintln(&out, "  "+output)
			}
		}
	}
	p.close()
	return out.String()
}

// A player plays one block of a transcript.
type player struct {
	t      *testing.T
	server server
	root   string
	open   map[int]bool
	zxid   int64 // at the start of the block
	ops    map[int32]proto.OpCode
	xid    int32
	atEnd  func() // nil unless the title has a mark
}

func newPlayer(t *testing.T, s server, root string) *player {
	p := &player{t: t, server: s, root: root, open: map[int]bool{}, ops: map[int32]proto.OpCode{}}
	p.command("0 zxid")
	p.command("0 create $")
	p.command("0 zxid")
	return p
}

func (p *player) close() {
	if p == nil {
		return
	}
	p.server.close()
	if p.atEnd != nil {
		p.atEnd()
	}
}

// expectMark expects the mark in the title of the block. A real server reaches none.
func (p *player) expectMark(title string) {
	_, mark, ok := strings.Cut(strings.TrimSuffix(title, ")"), " (mark: ")
	if _, ours := p.server.(*engineServer); ok && ours {
		marks.Expect(block{p.t, p}, mark)
	}
}

// A block is the test of a player, which ends with the block.
type block struct {
	*testing.T
	p *player
}

// Cleanup postpones a call to the end of the block.
func (b block) Cleanup(end func()) { b.p.atEnd = end }

// command carries out a row and returns its outputs as text.
func (p *player) command(row string) []string {
	p.t.Helper()
	number, rest, _ := strings.Cut(strings.ReplaceAll(row, "$", p.root), " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		p.t.Fatalf("%q: expected the number of a connection", row)
	}
	if verb, old, ok := strings.Cut(rest, " "); ok && verb == "attach" {
		k, err := strconv.Atoi(old)
		if err != nil {
			p.t.Fatalf("%q: expected the number of a connection", row)
		}
		p.open[n] = true
		return p.format(p.server.connect(n, k))
	}
	var lines []line
	if !p.open[n] {
		p.open[n] = true
		lines = p.server.connect(n, newSession)[1:]
	}
	return p.format(append(lines, p.server.ask(n, p.request(rest))...))
}

// request returns the payload of a request: its xid, operation and body.
func (p *player) request(text string) []byte {
	p.xid++
	op, body := parseRequest(p.t, text)
	p.ops[p.xid] = op
	frame := wire.AppendRequest(nil, p.xid, &proto.Simple{Code: op})[4:12]
	return append(slices.Clone(frame), body...)
}

func (p *player) format(lines []line) []string {
	slices.SortStableFunc(lines, func(a, b line) int { return a.conn - b.conn })
	names := strings.NewReplacer(p.root, "$", proto.NullPath, "null")
	var outputs []string
	for _, l := range lines {
		outputs = append(
			outputs, fmt.Sprintf("%d: %s", l.conn, names.Replace(p.formatFrame(l.frame))),
		)
	}
	return outputs
}

func (p *player) formatFrame(frame []byte) string {
	if frame == nil {
		return "closed"
	}
	h, body, err := wire.DecodeReplyHeader(frame)
	switch {
	case err != nil:
		return "no header: " + hex.EncodeToString(frame)
	case h.Xid == 0: // the protocol version at the start of a ConnectResponse
		return "connected"
	case h.Xid == -1 && h.Zxid == -1 && h.Err == proto.OK:
		ev, err := wire.DecodeEvent(body)
		return fmt.Sprintf("event %s %s%s", ev.Type, ev.Path, problem(err))
	case h.Xid == pingXid:
		text := fmt.Sprintf("zxid +%d", h.Zxid-p.zxid)
		if p.xid <= 3 {
			p.zxid = h.Zxid
		}
		return text
	}
	text := h.Err.String()
	if h.Err != proto.OK && len(body) == 0 {
		return text
	}
	reply, err := wire.DecodeReply(p.ops[h.Xid], body)
	text = strings.TrimSuffix(formatReply(reply)+" "+text, " ok")
	return text + problem(err)
}

func problem(err error) string {
	if err == nil {
		return ""
	}
	return " (" + err.Error() + ")"
}

// engineServer is the engine as a server of transcripts.
type engineServer struct {
	e        *Engine
	now      time.Time
	conns    map[int]ConnID
	sessions map[int]int64
}

func openEngine(*testing.T) server {
	now := time.UnixMilli(1_700_000_000_000)
	e := New(Config{
		TickTime:          2 * time.Second,
		MinSessionTimeout: 4 * time.Second, MaxSessionTimeout: 40 * time.Second,
		SuperDigest: superDigest,
	}, now)
	return &engineServer{e: e, now: now, conns: map[int]ConnID{}, sessions: map[int]int64{}}
}

func (s *engineServer) close() {}

func (s *engineServer) connect(n, old int) []line {
	s.conns[n] = ConnID(n*100 + len(s.conns) + 1)
	s.e.Open(s.conns[n], 0, "127.0.0.1", s.now)
	password := passwordOf(s.sessions[old])
	req := proto.ConnectRequest{
		TimeoutMs: 10_000, HasReadOnly: true,
		SessionID: s.sessions[old], Password: password[:],
	}
	lines := s.ask(n, wire.AppendConnectRequest(nil, req)[4:])
	s.sessions[n] = s.e.SessionOf(s.conns[n])
	return lines
}

func (s *engineServer) ask(n int, frame []byte) []line {
	var lines []line
	for _, out := range s.e.Handle(s.conns[n], frame, s.now).Out {
		l := line{conn: s.number(out.Conn)}
		if out.Frame != nil {
			l.frame = bytes.Clone(out.Frame[4:])
		}
		lines = append(lines, l)
	}
	return lines
}

func (s *engineServer) number(id ConnID) int { return int(id) / 100 }
