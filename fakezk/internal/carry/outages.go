package carry

import (
	"slices"
	"time"
)

// Outages are faults that hit a client's dials, each until a time of its own.
type Outages []outage

type outage struct {
	until time.Duration
	fault *Armed
}

// Add is one more, and reports whether the client was hit already.
func (o *Outages) Add(f *Armed, now time.Duration) (already bool) {
	already = o.last(now)
	*o = append(*o, outage{now + f.For, f})
	return already
}

// last reports whether any of them does still.
func (o Outages) last(now time.Duration) bool {
	return slices.ContainsFunc(o, func(o outage) bool { return now < o.until })
}

// Hit reports whether a dial at this time is hit; if so the faults have acted.
func (o Outages) Hit(now time.Duration) bool {
	for _, o := range o {
		if now < o.until {
			o.fault.Fired = true
		}
	}
	return o.last(now)
}

// RefusalPause keeps a client that dials in a loop from filling the trace.
const RefusalPause = 100 * time.Millisecond
