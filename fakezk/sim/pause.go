package sim

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
	"github.com/zksim/zksim/fakezk/trace"
)

// A paused caller is a goroutine that waits for a reply although its client has it, as if the
// scheduler had put the goroutine aside before its next statement.
type pausedCaller struct {
	client  *Client
	request int // its number
	until   time.Duration
	kept    *zkclient.Kept
}

// pause keeps the caller of a request from its reply. The fault misses if there is no such caller:
// the client has given the request up already, or its own code has dialed.
func (s *simulation) pause(
	l *link, m *carry.Message, f *carry.Armed, until time.Duration,
) {
	c := s.pausedAt(l.client, m.Number)
	if c == nil {
		kept, ok := l.keepReply(m)
		if !ok {
			f.Fired = false
			return
		}
		c = &pausedCaller{client: l.client, request: m.Number, kept: kept}
		s.paused = append(s.paused, c)
		s.notePause(c, trace.Paused, "is paused at #%d")
	}
	c.until = max(c.until, until)
	s.pausedUntil = max(s.pausedUntil, until)
	s.agenda.Schedule(until, func() {
		if s.agenda.Now() >= c.until {
			s.resume(c)
		}
	})
}

// pausedAt is the caller of a request that is paused already, nil if there is none.
func (s *simulation) pausedAt(client *Client, request int) *pausedCaller {
	i := slices.IndexFunc(s.paused, func(c *pausedCaller) bool {
		return c.client == client && c.request == request
	})
	if i < 0 {
		return nil
	}
	return s.paused[i]
}

func (l *link) keepReply(m *carry.Message) (k *zkclient.Kept, ok bool) {
	h, _, err := wire.DecodeHeader(m.Bytes)
	if conn := l.client.conn(l.connect); err == nil && conn != nil {
		return zkclient.Keep(conn, h.Xid)
	}
	return nil, false
}

// resume lets a paused caller have its reply.
func (s *simulation) resume(c *pausedCaller) {
	if i := slices.Index(s.paused, c); i >= 0 {
		s.paused = slices.Delete(s.paused, i, i+1)
		s.notePause(c, trace.Resumed, "goes on after #%d")
		c.client.markWoken()
		c.kept.Release()
	}
}

// resumeAll ends all pauses.
func (s *simulation) resumeAll() {
	for len(s.paused) > 0 {
		s.resume(s.paused[0])
	}
}

func (s *simulation) notePause(c *pausedCaller, kind trace.NoticeKind, format string) {
	if c.client.dead.Load() {
		return
	}
	s.record.Notice(c.client.name, kind, format, c.request)
}

// heldUntil is the time from which faults hold no message and no goroutine any more.
func (s *simulation) heldUntil() time.Duration { return max(s.net.HeldUntil(), s.pausedUntil) }
