package linearizability

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The properties that are judged, by their names in a [Verdict].
const (
	Safety          = "safety"
	Belief          = "belief"
	Fencing         = "fencing"
	Linearizability = "linearizability"
	Order           = "order"
	Answers         = "answers"
	Presence        = "presence"
	View            = "view"
	Delivery        = "delivery"
	Liveness        = "liveness"
	Orphans         = "orphans"
	Herd            = "herd"
)

// Status is the answer to the question whether a property holds.
type Status int

// The statuses, from good to bad.
const (
	OK       Status = iota // nothing was found
	Unknown                // it could not be decided
	Violated               // it does not hold; the summary says how
)

// String returns the status in one word.
func (s Status) String() string {
	switch s {
	case OK:
		return "ok"
	case Unknown:
		return "unknown"
	case Violated:
		return "violated"
	}
	return fmt.Sprintf("Status(%d)", int(s))
}

// Verdict is the judgement of one property.
type Verdict struct {
	Property string
	Status   Status
	Summary  string  // one line, in the words of the recipe
	Steps    []int64 // the steps that the summary names, in its order
	Znode    string  // the path of the znode to blame, which is there at rest; "" without one
}

// String returns the verdict as one line.
func (v Verdict) String() string {
	return strings.TrimRight(fmt.Sprintf("%-15s %-8s  %s", v.Property, v.Status, v.Summary), " ")
}

// ZombieWindow is the time in which a client went on believing that it holds a lock although the
// server had already taken it away.
type ZombieWindow struct {
	Client  string
	Session int64
	Path    string // the client's znode, if known
	// From is the step at which the server revoked the lock, or at which lock returned, if that was
	// later.
	From int64
	// To is the step at which the client learned of it or gave the lock up, or the end of the
	// history.
	To       int64
	Duration time.Duration
}

// Hold is a granted lock, lease or leadership.
type Hold struct {
	Client  string
	Session int64
	Path    string // the znode of the holder, if known
	// From is the step at which the call returned. Held is the step at which the hold ended at the
	// server, and Believed the step at which the client stopped believing in it. Each is after the
	// last step if that did not happen.
	From, Held, Believed int64
}

// Report is the judgement of one history.
type Report struct {
	Verdicts []Verdict // of the properties that were judged, in the order of [Properties]

	ZombieWindows []ZombieWindow
	MaxHerd       int           // most watch notifications fired by one release
	MaxHerdStep   int64         // the step of that release
	Granted       int           // calls that were granted a lock
	LongestWait   time.Duration // of these calls
	Lost          []string      // elements that were removed and never returned to a caller
	Duplicated    []string      // elements that were stored or returned more than once

	// Holds are the locks, leases and leaderships that were granted, in the order of the grants.
	Holds []Hold

	// Linearize finds the order that Linearization returns; nil if the kind of object has no
	// sequential model.
	Linearize func() (Linearization, bool)
}

// Status is the worst status of all verdicts.
func (r Report) Status() Status {
	worst := OK
	for _, v := range r.Verdicts {
		worst = max(worst, v.Status)
	}
	return worst
}

// Worsen adds a verdict. Of two verdicts on one property the report keeps the worse one, and of two
// equally bad ones the first.
func (r *Report) Worsen(v Verdict) {
	at := slices.IndexFunc(r.Verdicts, func(w Verdict) bool { return w.Property == v.Property })
	switch {
	case at < 0:
		r.Verdicts = append(r.Verdicts, v)
	case v.Status > r.Verdicts[at].Status:
		r.Verdicts[at] = v
	}
}

// First returns the first verdict with the worst status, which is the one to show first. If nothing
// was judged, it is the zero Verdict with status OK.
func (r Report) First() Verdict {
	for _, v := range r.Verdicts {
		if v.Status == r.Status() {
			return v
		}
	}
	return Verdict{}
}

// Verdict returns the verdict on a property, and whether it was judged.
func (r Report) Verdict(property string) (Verdict, bool) {
	for _, v := range r.Verdicts {
		if v.Property == property {
			return v, true
		}
	}
	return Verdict{}, false
}

// String returns one line for each verdict and one for each zombie window.
func (r Report) String() string {
	var b strings.Builder
	for _, v := range r.Verdicts {
		fmt.Fprintln(&b, v)
	}
	for _, z := range r.ZombieWindows {
		fmt.Fprintf(&b, "zombie window: client %s believed in session 0x%x until step %d, "+
			"%v after the server ended it at step %d\n", z.Client, z.Session, z.To,
			z.Duration, z.From)
	}
	return b.String()
}

// Properties lists the properties in the order in which a [Report] has them.
func Properties() []string { return slices.Clone(properties) }

var properties = []string{
	Safety, Belief, Fencing, Linearizability, Order, Answers, Presence, View, Delivery, Liveness,
	Orphans, Herd,
}

// Add puts verdicts at their places in the order of properties.
func (r *Report) Add(list ...Verdict) {
	for _, v := range list {
		i := len(r.Verdicts)
		for i > 0 && place(r.Verdicts[i-1]) > place(v) {
			i--
		}
		r.Verdicts = slices.Insert(r.Verdicts, i, v)
	}
}

func place(v Verdict) int { return slices.Index(properties, v.Property) }
