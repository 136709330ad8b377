package member

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// period is the time during which an instance had a value.
type period struct {
	value            string
	from, to         int64 // steps; to is the first one of the next value, or never
	fromTime, toTime time.Duration
}

// timeline is a sequence of values without a gap.
type timeline []period

// timelines are the timelines at the server.
type timelines struct {
	// instances has for each instance its data after a "=", or "" while the instance did not exist.
	instances map[string]timeline
	names     timeline // of all instances that existed
}

// set ends the present value and begins the next. Changes in one step count as one.
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
	return append(t, period{value: value, from: step, to: judging.Never, fromTime: now})
}

// newTimeline returns a timeline with no value from the start on.
func newTimeline() timeline { return timeline{{from: math.MinInt64, to: judging.Never}} }

// readTimelines reads the server's log. entry returns the instance of an event, and its data. An
// instance with several znodes has the data of the last one that was created or changed.
func readTimelines(
	events []lin.ServerEvent, entry func(lin.ServerEvent) (instance, data string, ok bool),
) timelines {
	t := timelines{instances: map[string]timeline{}, names: newTimeline()}
	there := map[string]map[string]bool{} // the znodes of each instance
	for _, e := range events {
		name, data, ok := entry(e)
		if !ok {
			continue
		}
		value := "=" + data
		if there[name] == nil {
			there[name] = map[string]bool{}
		}
		there[name][e.Path] = true
		if e.Kind == lin.NodeDeleted {
			delete(there[name], e.Path)
			value = t.of(name)[len(t.of(name))-1].value
		}
		if len(there[name]) == 0 {
			value = ""
			delete(there, name)
		}
		t.instances[name] = t.of(name).set(value, e.Step, e.Time)
		names := strings.Join(slices.Sorted(maps.Keys(there)), ",")
		t.names = t.names.set(names, e.Step, e.Time)
	}
	return t
}

// of returns the timeline of an instance.
func (t timelines) of(name string) timeline {
	if line, ok := t.instances[name]; ok {
		return line
	}
	return newTimeline()
}

// during reports whether the value held at some moment of an interval.
func (t timeline) during(value string, from, to int64) bool {
	return slices.ContainsFunc(t, func(p period) bool {
		return p.value == value && p.from <= to && p.to > from
	})
}

// without returns the longest time without a right value between two moments, and the step at which
// that time began.
func (t timeline) without(
	right func(value string) bool, from, to time.Duration,
) (longest time.Duration, since int64) {
	began, step, missing := from, int64(0), false
	for _, p := range t {
		end := to
		if p.to != judging.Never {
			end = min(to, p.toTime)
		}
		switch {
		case right(p.value):
			missing = false
			continue
		case !missing:
			began, step, missing = max(from, p.fromTime), max(p.from, 0), true
		}
		if end-began > longest {
			longest, since = end-began, step
		}
	}
	return longest, since
}
