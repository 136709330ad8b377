package record

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

// Log keeps a line that a goroutine of the code under test logs.
func (j *Journal) Log(at time.Duration, goroutine int64, line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.ended {
		j.logs = append(j.logs, logged{at, goroutine, logTime.ReplaceAllString(line, "")})
	}
}

// logTime is the time before a line of package log, which depends on the time zone.
var logTime = regexp.MustCompile(`^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(\.\d+)? `)

// sortedLogs are the lines in the order of their times. Goroutines that run at the same instant do
// so in any order: their lines are in that of their texts.
func (j *Journal) sortedLogs() (lines []trace.LogLine) {
	j.mu.Lock()
	defer j.mu.Unlock()
	texts := map[logged]string{} // of a goroutine at an instant
	key := func(l logged) logged { return logged{at: l.at, goroutine: l.goroutine} }
	for _, l := range j.logs {
		texts[key(l)] += l.text + "\n"
	}
	slices.SortStableFunc(j.logs, func(a, b logged) int {
		return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(texts[key(a)], texts[key(b)]))
	})
	for _, l := range j.logs {
		lines = append(lines, trace.LogLine{Time: l.at, Text: l.text})
	}
	return lines
}
