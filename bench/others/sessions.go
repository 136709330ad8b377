package main

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
)

// sessionEnds is a handler of a server's log that keeps the times at which sessions ended. A client
// may believe that it holds a lock until it hears of the end of its session.
type sessionEnds struct {
	mu   sync.Mutex
	ends []sessionEnd
}

type sessionEnd struct {
	session int64
	at      int64 // nanoseconds since 1970
}

func (s *sessionEnds) list() []sessionEnd {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]sessionEnd(nil), s.ends...)
}

// Enabled accepts the level of the lines about sessions.
func (s *sessionEnds) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

// Handle keeps the end of a session and drops everything else.
func (s *sessionEnds) Handle(_ context.Context, line slog.Record) error {
	if line.Message != "session ends" {
		return nil
	}
	line.Attrs(func(a slog.Attr) bool {
		if a.Key != "id" {
			return true
		}
		if id, err := strconv.ParseInt(a.Value.String(), 0, 64); err == nil {
			s.mu.Lock()
			s.ends = append(s.ends, sessionEnd{id, line.Time.UnixNano()})
			s.mu.Unlock()
		}
		return false
	})
	return nil
}

// WithAttrs and WithGroup are not used by a server.
func (s *sessionEnds) WithAttrs([]slog.Attr) slog.Handler { return s }
func (s *sessionEnds) WithGroup(string) slog.Handler      { return s }
