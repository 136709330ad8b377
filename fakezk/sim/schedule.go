package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// ScheduleKind is the way in which the messages of a World are ordered.
type ScheduleKind string

// The kinds of Schedule.
const (
	// Latencies give each message a latency drawn by the seed. It is the default.
	Latencies ScheduleKind = ""
	// Priorities deliver one message at a time. Each direction of each client's messages is a
	// stream with a priority drawn by the seed; the first message of the stream with the highest
	// priority comes next. Numbers are deliveries, counted from 1: after delivery n, for each n in
	// Numbers, the stream just served gets the lowest priority. A later n of the list ranks above
	// an earlier one.
	//
	// With few numbers it is probabilistic concurrency testing, PCT (Burckhardt et al., ASPLOS
	// 2010): a bug that needs d events in a certain order is met with a chance that falls
	// with the length of the run to the power of d-1 only. After 5000 deliveries messages
	// come in the order in which they were sent, so that no client starves for ever.
	Priorities ScheduleKind = "priorities"
	// Choices deliver one message at a time, and wherever several are under way the next of Numbers
	// says which, from 0, in the order in which they were sent; the last one if there are fewer.
	// Beyond Numbers, and once all scripts have ended, it is the first.
	Choices ScheduleKind = "choices"
	// Turns let one thing happen at a time: a message arrives, a dial ends, a script wakes from a
	// sleep, a context of [Goroutine.Within] is done, or a fault of a client strikes at a time up
	// to [Lateness]. Messages and dials take no time, but every thing may be late by up to
	// [Lateness] and be overtaken by others. Wherever several can come next, the next of Numbers
	// says which, from 0: those that are due first, and then those that came up first. Beyond
	// Numbers, and once all scripts have ended, it is the first. What only one client notices is no
	// choice if it is all that can reach that client. All else, such as the timers of code and the
	// ends of sessions, comes at its time.
	Turns ScheduleKind = "turns"
)

// A Schedule is the order of the messages of a World, as data: the zero value is Latencies. Timers
// of clients and of the server always fire at their time. A message takes a millisecond unless
// Latencies say otherwise.
type Schedule struct {
	Kind    ScheduleKind
	Numbers []int
}

// String is the schedule in one line: latencies, or a kind and its numbers.
func (s Schedule) String() string {
	if s.Kind == Latencies {
		return "latencies"
	}
	text := string(s.Kind)
	for _, n := range s.Numbers {
		text += " " + strconv.Itoa(n)
	}
	return text
}

// ParseSchedule is the inverse of String.
func ParseSchedule(text string) (Schedule, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Schedule{}, fmt.Errorf(
			"schedule is empty; expected latencies, priorities, choices or turns",
		)
	}
	s := Schedule{Kind: ScheduleKind(words[0])}
	if words[0] == "latencies" {
		s.Kind = Latencies
	}
	for _, word := range words[1:] {
		n, err := strconv.Atoi(word)
		if err != nil {
			return Schedule{}, fmt.Errorf("schedule %q: %q is no number", text, word)
		}
		s.Numbers = append(s.Numbers, n)
	}
	return s, s.Validate()
}

// Validate returns an error for an invalid schedule.
func (s Schedule) Validate() error {
	least := map[ScheduleKind]int{Priorities: 1, Choices: 0, Turns: 0}
	low, known := least[s.Kind]
	switch {
	case s.Kind == Latencies && len(s.Numbers) > 0:
		return fmt.Errorf("schedule latencies takes no numbers, got %v", s.Numbers)
	case s.Kind != Latencies && !known:
		return fmt.Errorf("schedule %q; expected latencies, priorities, choices or turns",
			s.Kind)
	}
	for _, n := range s.Numbers {
		if n < low {
			return fmt.Errorf("schedule %s: %d; expected numbers from %d", s.Kind, n, low)
		}
	}
	return nil
}
