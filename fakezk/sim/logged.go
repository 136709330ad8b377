package sim

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
)

// logged is a line that the code under test has logged.
type logged struct {
	at        time.Duration
	goroutine int64
	text      string
}

// keepLog takes a line of the code under test. Without World.Logs it is dropped.
func (s *simulation) keepLog(goroutine int64, line string) {
	if !s.world.Logs || s.closing.Load() {
		return
	}
	at := s.agenda.Elapsed()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs = append(s.logs, logged{at, goroutine, logTime.ReplaceAllString(line, "")})
}

// logTime is the time before a line of package log, which depends on the time zone.
var logTime = regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(\.\d+)? `)

// allLogs are the lines in the order of their times. Goroutines that run at the same instant do so
// in any order: their lines are in that of their texts.
func (s *simulation) allLogs() []trace.LogLine {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts := map[logged]string{} // of a goroutine at an instant
	key := func(l logged) logged { return logged{at: l.at, goroutine: l.goroutine} }
	for _, l := range s.logs {
		texts[key(l)] += l.text + "\n"
	}
	slices.SortStableFunc(s.logs, func(a, b logged) int {
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(texts[key(a)], texts[key(b)]))
	})
	var lines []trace.LogLine
	for _, l := range s.logs {
		lines = append(lines, trace.LogLine{Time: l.at, Text: l.text})
	}
	return lines
}
