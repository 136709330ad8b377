package fakezk

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// logTo is a logger that writes lines without times, of which only the number of
// a session's id is left.
func logTo(b *bytes.Buffer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// TestLogTellsWhatHappens has a line for everything that the log tells of, in
// the order in which it happens.
func TestLogTellsWhatHappens(t *testing.T) {
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		s := Start(t, Options{Logger: logTo(&log, slog.LevelDebug)})
		closes, _ := rawSession(t, s, 4*time.Second)
		closes.mustCall(&proto.Simple{Code: proto.OpCloseSession})
		closes.wantClosed()

		_, session := rawSession(t, s, 10*time.Second)
		s.DropConnections()
		again := rawDial(t, s)
		again.handshake(proto.ConnectRequest{SessionID: session.SessionID,
			Password:  session.Password,
			TimeoutMs: 10000})

		ahead := rawDial(t, s)
		ahead.sendHandshake(proto.ConnectRequest{TimeoutMs: 4000, LastZxidSeen: 42})
		ahead.wantClosed()
		short := rawDial(t, s)
		short.sendFrame([]byte{1, 2})
		short.wantClosed()
		rawDial(t, s).handshake(proto.ConnectRequest{SessionID: 77, TimeoutMs: 4000})
		rawDial(t, s).handshake(proto.ConnectRequest{SessionID: session.SessionID,
			Password: make([]byte, 16), TimeoutMs: 4000})

		garbage := rawDial(t, s)
		garbage.send([]byte{0xff, 0, 0, 0, 0})
		garbage.wantClosed()
		unreadable, _ := rawSession(t, s, time.Minute)
		unreadable.sendFrame([]byte{0, 0, 0, 5, 0, 0, 0, byte(proto.OpCreate)})
		unreadable.sendFrame([]byte{7})

		time.Sleep(50 * time.Second) // more than any session lives
	})
	// Ids count up from the time of the start, which is the same in each bubble.
	check.Diff(t, withoutIDs(log.String()), strings.TrimLeft(`
level=INFO msg="session begins" session=S1 id=ID0 addr=127.0.0.1:32769 timeout=4s
level=INFO msg="session ends" session=S1 id=ID0 why=closed
level=INFO msg="session begins" session=S2 id=ID1 addr=127.0.0.1:32770 timeout=10s
level=DEBUG msg="session without connection" session=S2 id=ID1 addr=127.0.0.1:32770
level=DEBUG msg="session connected again" session=S2 id=ID1 addr=127.0.0.1:32771
level=INFO msg="handshake refused" addr=127.0.0.1:32772 why="the client has seen a higher zxid than the server's" seen=0x2a last=0x3
level=INFO msg="handshake refused" addr=127.0.0.1:32773 why="malformed record: connect.protocolVersion: needs 4 bytes, 2 are left"
level=INFO msg="handshake refused" addr=127.0.0.1:32774 id=0x4d why="no such session"
level=DEBUG msg="session without connection" session=S2 id=ID1 addr=127.0.0.1:32771
level=INFO msg="handshake refused" addr=127.0.0.1:32775 id=ID1 why="wrong password, or the session is about to end"
level=INFO msg="malformed frame" addr=127.0.0.1:32776 why="frame length -16777216 is not within 0 and 1048575"
level=INFO msg="session begins" session=S3 id=ID2 addr=127.0.0.1:32777 timeout=40s
level=INFO msg="malformed frame" session=S3 id=ID2 addr=127.0.0.1:32777 why="xid 5: create that cannot be read"
level=INFO msg="malformed frame" session=S3 id=ID2 addr=127.0.0.1:32777 why="no request header"
level=DEBUG msg="session without connection" session=S3 id=ID2 addr=127.0.0.1:32777
level=INFO msg="session ends" session=S2 id=ID1 why=expired
level=INFO msg="session ends" session=S3 id=ID2 why=expired
`, "\n"), "%s", log.String())
}

// withoutIDs calls the first session's id ID0, the one that follows it ID1.
func withoutIDs(log string) string {
	_, rest, _ := strings.Cut(log, "id=0x")
	var first int64
	if _, err := fmt.Sscanf(rest, "%x", &first); err != nil {
		return log
	}
	for i := range int64(10) {
		log = strings.ReplaceAll(log, hexText(first+i), fmt.Sprintf("ID%d", i))
	}
	return log
}

// TestLogTellsOfEveryFaultThatFires: also of one that is armed again and fires at
// once, and of one that is cleared at once.
func TestLogTellsOfEveryFaultThatFires(t *testing.T) {
	var log bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		s := Start(t, Options{Logger: logTo(&log, slog.LevelInfo)})
		rawSession(t, s, 10*time.Second)
		st := &faultTest{T: t, Server: s}
		for range 3 {
			r, _ := rawSession(t, s, 10*time.Second)
			st.inject("cut op=create request=1")
			st.inject("cut op=delete request=1") // never
			r.ask(rawCreate("/a", 0))
			synctest.Wait()
			s.ClearFaults()
		}
		st.inject("restart 1s at=1s")
		st.inject("refuse 10s at=5s")
		time.Sleep(6 * time.Second)
		for range 2 { // but the fault fires once
			if _, err := s.dial(); err == nil {
				t.Error("a dial succeeds")
			}
		}
	})
	var faults []string
	for line := range strings.Lines(log.String()) {
		if rest, ok := strings.CutPrefix(line, "level=INFO msg=fault line="); ok {
			faults = append(faults, strings.Trim(rest, "\"\n"))
		}
	}
	want := []string{"cut op=create request=1", "cut op=create request=1",
		"cut op=create request=1", "restart 1s at=1s", "refuse 10s at=5s"}
	check.Diff(t, faults, want, "%s", log.String())
}

// TestLogTellsOfConnectionsBeyondTheLimit over TCP, where there is one.
func TestLogTellsOfConnectionsBeyondTheLimit(t *testing.T) {
	var log bytes.Buffer
	s, address := startTCP(t, Options{MaxClientConns: 1, Logger: logTo(&log, slog.LevelInfo)})
	tcpSession(t, address)
	refused := dialTCP(t, address)
	refused.wantClosed()
	_ = s.Close()
	want := fmt.Sprintf(
		`msg="connection refused" addr=%s `+
			`why="127.0.0.1 has 1 connections already, which is the limit"`, refused.LocalAddr(),
	)
	check.Contains(t, log.String(), want)
}

// slowHandler waits before it takes the first line.
type slowHandler struct {
	until chan struct{}
	mu    sync.Mutex
	lines []slog.Record
}

func (h *slowHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h *slowHandler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h *slowHandler) WithGroup(string) slog.Handler            { return h }
func (h *slowHandler) Handle(_ context.Context, r slog.Record) error {
	<-h.until
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, r)
	return nil
}

// told is how many lines there were, and how many were dropped by their account.
func (h *slowHandler) told() (lines, dropped int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.lines {
		if r.Message != "log lines dropped" {
			lines++
			continue
		}
		r.Attrs(func(a slog.Attr) bool {
			dropped += int(a.Value.Int64())
			return true
		})
	}
	return lines, dropped
}

// TestLogHoldsNobodyUp: a server serves though its log is stuck, and tells how
// much of the log is missing, in its place or at the end.
func TestLogHoldsNobodyUp(t *testing.T) {
	for _, after := range []int{0, 10} { // sessions that begin when the log moves again
		synctest.Test(t, func(t *testing.T) {
			h := &slowHandler{until: make(chan struct{})}
			s := Start(t, Options{Logger: slog.New(h)})
			const stuck = 2 * maxLogLines
			for range stuck {
				rawSession(t, s, 40*time.Second)
				synctest.Wait() // the first line is being handled
			}
			close(h.until)
			synctest.Wait() // the queue is empty
			for range after {
				rawSession(t, s, 40*time.Second)
			}
			if err := s.Close(); err != nil { // which drops every connection
				t.Error(err)
			}
			lines, dropped := h.told()
			if all := stuck + after + len(s.Sessions()); lines+dropped != all {
				t.Errorf("%d lines and %d dropped; want %d in all", lines, dropped, all)
			}
			if dropped < stuck-maxLogLines-1 || lines < maxLogLines+1+after {
				t.Errorf("%d lines and %d dropped of %d while the log was stuck and %d later",
					lines, dropped, stuck, after)
			}
			check.Equal(t, h.lines[maxLogLines+1].Message, "log lines dropped",
				"after the queue came")
		})
	}
}

// TestNoLoggerNoLog: neither a queue nor a goroutine.
func TestNoLoggerNoLog(t *testing.T) {
	if s := Start(t); s.recorder.log != nil {
		t.Error("a server without a Logger has a log")
	}
}

// TestCloseTwiceWithALog: the second waits for the log as the first does, and
// connections that end later find it closed.
func TestCloseTwiceWithALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Start(t, Options{Logger: slog.New(slog.DiscardHandler)})
		r, _ := rawSession(t, s, 4*time.Second)
		var closing sync.WaitGroup
		for range 2 {
			closing.Go(func() { _ = s.Close() })
		}
		closing.Wait()
		_ = r.Close()
		s.Restart()
	})
}
