package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk"
)

// serveLog is the log of a server: besides what others write to it, it tells of
// sessions that come and go and of faults that fire. It looks ten times a second
// and compares; a session that lives shorter than that is not told of.
type serveLog struct {
	*slog.Logger
	server  *fakezk.Server
	done    chan struct{}
	running sync.WaitGroup

	mu       sync.Mutex
	sessions []fakezk.Session
	faults   []fakezk.FaultStatus
}

// newServeLog begins to watch a server; close ends that.
func newServeLog(server *fakezk.Server, log *slog.Logger) *serveLog {
	l := &serveLog{Logger: log, server: server, done: make(chan struct{})}
	l.running.Go(l.watch)
	return l
}

func (l *serveLog) close() {
	close(l.done)
	l.running.Wait()
}

// logInterval is the time between two looks.
const logInterval = 100 * time.Millisecond

func (l *serveLog) watch() {
	ticker := time.NewTicker(logInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.look()
		case <-l.done:
			return
		}
	}
}

// look tells what has changed since the last look, unless nobody would read it.
func (l *serveLog) look() {
	if !l.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lookAtFaults(l.server.Faults())
	l.lookAtSessions(l.server.Sessions())
}

// lookAtFaults tells of faults that have fired. A list that is no longer than
// before but differs is a new one: the old one was cleared.
func (l *serveLog) lookAtFaults(now []fakezk.FaultStatus) {
	for i, f := range now {
		known := i < len(l.faults) && l.faults[i].Fault == f.Fault && l.faults[i].Fired
		if f.Fired && !known {
			l.Info("fault", "line", f.Fault.String())
		}
	}
	l.faults = now
}

// lookAtSessions tells of sessions that have begun, ended, lost or found their
// connection. Both lists are in order of id.
func (l *serveLog) lookAtSessions(now []fakezk.Session) {
	before := make(map[int64]fakezk.Session, len(l.sessions))
	for _, s := range l.sessions {
		before[s.ID] = s
	}
	for _, s := range now {
		old, known := before[s.ID]
		delete(before, s.ID)
		switch {
		case !known:
			l.session(slog.LevelInfo, "session begins", s, "timeout", s.Timeout)
		case old.Connected && !s.Connected:
			l.session(slog.LevelDebug, "session without connection", s)
		case !old.Connected && s.Connected:
			l.session(slog.LevelDebug, "session connected again", s)
		}
	}
	for _, s := range l.sessions {
		if _, gone := before[s.ID]; gone {
			l.session(slog.LevelInfo, "session ends", s)
		}
	}
	l.sessions = now
}

func (l *serveLog) session(level slog.Level, message string, s fakezk.Session, attrs ...any) {
	l.Log(context.Background(), level, message, append([]any{"session", s.Name, "id", sessionText(s.ID)}, attrs...)...)
}
