package sim

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
	"github.com/zksim/zksim/fakezk/trace"
)

// A paused caller is a goroutine that waits for a reply although its client has it, as if the
// scheduler had put the goroutine aside before its next statement.
type pausedCaller struct {
	process *process
	request int // its number
	until   time.Duration
	kept    kept
}

// kept is a reply that its caller does not get before Release.
type kept interface{ Release() }

// pauses keeps callers from the replies to their requests.
type pauses struct {
	agenda *agenda.Agenda
	record *record.Recorder

	list  []*pausedCaller
	until time.Duration // when all of them have gone on
}

// pause keeps the caller of a request from its reply. The fault misses if there is no such caller:
// the client has given the request up already.
func (s *pauses) pause(l *link, m *carry.Message, f *carry.Armed, until time.Duration) {
	c := s.find(l.process, m.Number)
	if c == nil {
		kept, ok := l.keepReply(m)
		if !ok {
			f.Fired = false
			return
		}
		c = &pausedCaller{process: l.process, request: m.Number, kept: kept}
		s.list = append(s.list, c)
		s.note(c, trace.Paused, "is paused at #%d")
	}
	c.until = max(c.until, until)
	s.until = max(s.until, until)
	s.agenda.Schedule(until, func() {
		if s.agenda.Now() >= c.until {
			s.resume(c)
		}
	})
}

// find returns the caller of a request that is paused already, nil if there is none.
func (s *pauses) find(p *process, request int) *pausedCaller {
	i := slices.IndexFunc(s.list, func(c *pausedCaller) bool {
		return c.process == p && c.request == request
	})
	if i < 0 {
		return nil
	}
	return s.list[i]
}

// resume lets a paused caller have its reply.
func (s *pauses) resume(c *pausedCaller) {
	if i := slices.Index(s.list, c); i >= 0 {
		s.list = slices.Delete(s.list, i, i+1)
		s.note(c, trace.Resumed, "goes on after #%d")
		c.process.woken()
		c.kept.Release()
	}
}

// resumeAll ends all pauses.
func (s *pauses) resumeAll() {
	for len(s.list) > 0 {
		s.resume(s.list[0])
	}
}

func (s *pauses) note(c *pausedCaller, kind trace.NoticeKind, format string) {
	if !c.process.isDead() {
		s.record.Notice(trace.Notice{Client: c.process.name, Kind: kind}, format, c.request)
	}
}
