package linearizability

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// period is the time during which something had one value.
type period struct {
	value            string
	from, to         int64 // steps; to is the first one of the next value, or never
	fromTime, toTime time.Duration
}

// timeline is all values that something ever had, without a gap.
type timeline []period

// truth is what was so on the server: of each instance its data with a "=" in
// front, or "" while it was not there; and the names of all that were there.
type truth struct {
	instances map[string]timeline
	names     timeline
}

// set ends the present value. What happens in one step is one change.
func (t timeline) set(value string, step int64, now time.Duration) timeline {
	last := &t[len(t)-1]
	switch {
	case last.from == step:
		last.value = value
		return t
	case last.value == value:
		return t
	}
	last.to, last.toTime = step, now
	return append(t, period{value: value, from: step, to: never, fromTime: now})
}

// always is the timeline of what had no value from the start.
func always() timeline { return timeline{{from: math.MinInt64, to: never}} }

// readTruth reads the server's log. instance tells which znode is which.
func readTruth(events []ServerEvent, instance func(path string) (string, bool)) truth {
	t := truth{instances: map[string]timeline{}, names: always()}
	there := map[string]bool{}
	for _, e := range events {
		name, ok := instance(e.Path)
		if !ok || e.Kind == SessionStarted || e.Kind == SessionEnded {
			continue
		}
		value := "=" + e.Data
		if e.Kind == NodeDeleted {
			value = ""
		}
		t.instances[name] = t.of(name).set(value, e.Step, e.Time)
		if there[name] = true; value == "" {
			delete(there, name)
		}
		t.names = t.names.set(strings.Join(slices.Sorted(maps.Keys(there)), ","), e.Step, e.Time)
	}
	return t
}

// of returns the timeline of an instance.
func (t truth) of(name string) timeline {
	if line, ok := t.instances[name]; ok {
		return line
	}
	return always()
}

// during reports whether something had a value at some moment of an interval.
func (t timeline) during(value string, from, to int64) bool {
	return slices.ContainsFunc(t, func(s period) bool { return s.value == value && s.from <= to && s.to > from })
}

// without returns the longest time between two moments in which something did not
// have a value that is right, and when it began.
func (t timeline) without(right func(value string) bool, from, to time.Duration) (longest time.Duration, since int64) {
	began, step, missing := from, int64(0), false
	for _, s := range t {
		end := to
		if s.to != never {
			end = min(to, s.toTime)
		}
		switch {
		case right(s.value):
			missing = false
			continue
		case !missing:
			began, step, missing = max(from, s.fromTime), max(s.from, 0), true
		}
		if end-began > longest {
			longest, since = end-began, step
		}
	}
	return longest, since
}
