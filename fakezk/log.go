package fakezk

import (
	"context"
	"log/slog"
	"time"
)

// maxLogLines is the greatest number of lines that wait for Options.Logger.
const maxLogLines = 1024

// eventLog writes the events of a server to Options.Logger. Lines are added under the server's
// mutex; only the eventLog's own goroutine waits for the logger. A nil eventLog takes no lines.
type eventLog struct {
	to      *slog.Logger
	lines   chan slog.Record
	dropped int           // since the last line that found room
	ended   bool          // no line is taken any more
	drained chan struct{} // closed when all lines are handed over
}

// newEventLog starts the goroutine that hands lines to the logger; end and wait stop it.
func newEventLog(to *slog.Logger) *eventLog {
	if to == nil {
		return nil
	}
	l := &eventLog{to: to, lines: make(chan slog.Record, maxLogLines), drained: make(chan struct{})}
	go l.drain()
	return l
}

func (l *eventLog) drain() {
	defer close(l.drained)
	for line := range l.lines {
		l.deliver(line)
	}
	if l.dropped > 0 {
		l.deliver(l.droppedNotice())
	}
}

// deliver hands a line to the logger. It ignores the error, as slog.Logger does.
func (l *eventLog) deliver(line slog.Record) {
	_ = l.to.Handler().Handle(context.Background(), line)
}

// end takes in no more lines. The server's mutex is held.
func (l *eventLog) end() {
	if l != nil && !l.ended {
		l.ended = true
		close(l.lines)
	}
}

// wait returns when all lines are handed over. The server's mutex is not held.
func (l *eventLog) wait() {
	if l != nil {
		<-l.drained
	}
}

// on says whether lines of a level are wanted.
func (l *eventLog) on(level slog.Level) bool {
	return l != nil && !l.ended && l.to.Enabled(context.Background(), level)
}

// add queues a line, or counts it as dropped. One line with their number takes the place of the
// dropped lines.
func (l *eventLog) add(level slog.Level, message string, attrs ...slog.Attr) {
	if !l.on(level) {
		return
	}
	if l.dropped > 0 && l.offer(l.droppedNotice()) {
		l.dropped = 0
	}
	line := slog.NewRecord(time.Now(), level, message, 0)
	line.AddAttrs(attrs...)
	if l.dropped > 0 || !l.offer(line) {
		l.dropped++
	}
}

func (l *eventLog) offer(line slog.Record) bool {
	select {
	case l.lines <- line:
		return true
	default:
		return false
	}
}

// droppedNotice stands for the lines that were dropped.
func (l *eventLog) droppedNotice() slog.Record {
	line := slog.NewRecord(time.Now(), slog.LevelWarn, "log lines dropped", 0)
	line.AddAttrs(slog.Int("lines", l.dropped))
	return line
}
