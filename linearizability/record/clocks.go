package record

import (
	"errors"
	"math"
	"slices"
	"time"
)

// A Clock is what is added to the times of a file, so that all times are of one clock: Least to
// those of calls and notices, Most to those of returns. As bounds they are the least and the most
// that may be added.
type Clock struct{ Least, Most time.Duration }

// far is a bound of a Clock that nothing gives.
const far = time.Duration(1 << 62)

// Bounded reports whether both bounds are known.
func (c Clock) Bounded() bool { return c.Least > -far && c.Most < far }

// Clocks is what is known of the clocks of several files.
type Clocks struct {
	// Bounds compare with the server's clock or, without its log, with that of the first file.
	Bounds []Clock
	// Tried are clocks within these bounds, for [Merge], the likely ones first. With some of them
	// each event comes before those of other files before which it may come, and with some behind
	// them. Of many events they have only a part of the orders.
	Tried [][]Clock
	// Loose leave each call the longest time that the bounds allow: by the server's clock or,
	// without its log, by that of each file in turn. What is violated then is violated with all
	// clocks, if a promise is only easier to keep by calls that take longer.
	Loose [][]Clock

	nodes nodes
}

// First is that one of some clocks, as Tried has them, of which the first part of a file is.
func (c Clocks) First(file int, of []Clock) Clock { return of[c.nodes.clock[file]*c.nodes.parts] }

// Drift is the greatest part by which one clock may run faster than another: NTP sets a clock right
// by up to 500 millionths.
const Drift = 500e-6

// Align finds how far the clocks of several files differ.
//
//   - Files with the same [File.Clock] have one clock.
//   - If tokens are czxids, or grow with the grants, a grant took place between its call and its
//     return, in the order of the tokens. It is an error if no clocks explain all tokens.
//   - A call that has succeeded has changed a znode at the server in its session, between its call
//     and its return, if it must change one. The calls and the changes of a session show which.
//   - No element is taken from a queue before its offer begins.
//
// Each of these says that something began before something else was over, and so bounds the
// difference of two clocks. What would contradict the tokens is left out. As clocks drift, a long
// recording has a Clock for each of its parts of equal length. Align notes in the files which
// change each call has made.
func Align(files []File, changes []Change) (Clocks, error) {
	n := newNodes(files)
	tokens, calls := n.momentsOf(files, changes)
	d := n.differencesOf(tokens)
	for i := range n.server - 1 {
		if i/n.parts == (i+1)/n.parts {
			d[i][i+1], d[i+1][i] = n.drifted(i), n.drifted(i)
		}
	}
	if !d.close() {
		return Clocks{}, errors.New("no difference of the clocks explains the tokens of all files: the " +
			"files are of several runs, or a clock was set, or tokens did not grow with the grants")
	}
	fit := make([][]moment, n.server+1)
	fit[n.server] = calls[n.server]
	for c := range n.lengths {
		for _, i := range n.of(c) {
			fit[i] = calls[i]
		}
		more, fits := d.and(n.differencesOf(fit))
		if d = more; !fits {
			for _, i := range n.of(c) {
				fit[i] = nil
			}
			for i := range files {
				if n.clock[i] == c {
					files[i].made = nil
				}
			}
		}
	}
	d, _ = d.and(n.offersAndTakes(files))
	base := 0
	if n.logged = len(changes) > 0; n.logged {
		base = n.server
	}
	clocks, times := Clocks{nodes: n}, n.timesOf(files, changes)
	for _, c := range n.clock {
		bounds := Clock{far, -far}
		for _, i := range n.of(c) {
			if len(times[i]) > 0 {
				bounds.Least = min(bounds.Least, -d[base][i])
				bounds.Most = max(bounds.Most, d[i][base])
			}
		}
		if c == 0 && !n.logged || bounds.Most < bounds.Least {
			bounds = Clock{} // the others are compared with it, or nothing is
		}
		clocks.Bounds = append(clocks.Bounds, bounds)
	}
	likely := d.likely(base)
	d.end(times)
	clocks.Tried = [][]Clock{n.clocks(likely, likely)}
	for c := range len(n.lengths) + 1 {
		least, most := d.around(n.of(c), likely)
		if c != len(n.lengths)-1 { // the others have been compared with it
			clocks.Tried = append(clocks.Tried, n.tried(c, least, most, times)...)
		}
		if n.logged == (c == len(n.lengths)) {
			clocks.Loose = append(clocks.Loose, n.loose(least, most))
		}
	}
	return clocks, nil
}

// nodes are the values between which there are differences: for each part of each clock what is
// added to its times, and behind them that for the server.
type nodes struct {
	clock           []int           // of each file
	began           []time.Duration // of each file, after the first
	starts, lengths []time.Duration // of each clock, and of its parts
	parts, server   int
	logged          bool // the changes at the server are known
}

// mostNodes limits the parts of all clocks together.
const mostNodes = 160

func newNodes(files []File) (n nodes) {
	longest := time.Duration(0)
	for i, f := range files {
		began := f.Began.Sub(files[0].Began)
		c := slices.IndexFunc(files[:i], func(o File) bool { return o.Clock != "" && o.Clock == f.Clock })
		if c >= 0 {
			c = n.clock[c]
		} else {
			c = len(n.starts)
			n.starts, n.lengths = append(n.starts, began), append(n.lengths, 0)
		}
		n.clock, n.began = append(n.clock, c), append(n.began, began)
		end := max(n.starts[c]+n.lengths[c], began+f.History.EndTime)
		n.starts[c] = min(n.starts[c], began)
		n.lengths[c] = end - n.starts[c]
		longest = max(longest, n.lengths[c])
	}
	n.parts = min(1+int(longest/time.Second), 1+mostNodes/len(n.starts))
	n.server = n.parts * len(n.starts)
	for c := range n.lengths {
		n.lengths[c] = n.lengths[c]/time.Duration(n.parts) + 1
	}
	return n
}

// at is the node of a file at one of its times.
func (n nodes) at(file int, t time.Duration) int {
	c := n.clock[file]
	return c*n.parts + min(n.parts-1, max(0, int((n.began[file]+t-n.starts[c])/n.lengths[c])))
}

// of are the nodes of a clock, or of the server's behind them.
func (n nodes) of(clock int) (list []int) {
	for i := clock * n.parts; i < min((clock+1)*n.parts, n.server+1); i++ {
		list = append(list, i)
	}
	return list
}

// drifted is by how much clocks may drift apart within a part.
func (n nodes) drifted(list ...int) (most time.Duration) {
	for _, i := range list {
		if i < n.server {
			most = max(most, time.Duration(float64(n.lengths[i/n.parts])*Drift))
		}
	}
	return most
}

// timesOf are the times of the events of each node.
func (n nodes) timesOf(files []File, changes []Change) [][]time.Duration {
	list := make([][]time.Duration, n.server+1)
	for _, c := range changes {
		at := c.Clock.Sub(files[0].Began)
		list[n.server] = append(list[n.server], at, at+tick)
	}
	for i, f := range files {
		add := func(t time.Duration) {
			list[n.at(i, t)] = append(list[n.at(i, t)], n.began[i]+t)
		}
		for _, op := range f.History.Ops {
			if add(op.CallTime); op.Return >= 0 {
				add(op.ReturnTime)
			}
		}
		for _, notice := range f.History.Notices {
			add(notice.Time)
		}
	}
	return list
}

// mostTried is about the greatest number of clocks that are tried, less for more than mostEvents,
// since each is judged. mostTimes is that of the times of a clock that are compared for that.
const mostTried, mostEvents, mostTimes = 120, 1000, 400

// tried goes from the clocks of which all others are as far behind one as they may be to those of
// which all are as far ahead, and stops between each two crossings of events.
func (n nodes) tried(clock int, least, most []time.Duration, times [][]time.Duration) [][]Clock {
	stops, events := []float64{0, 1}, mostEvents
	for i := range least {
		events += len(times[i])
		for a := 0; a < len(times[i]); a += 1 + len(times[i])*n.parts/mostTimes {
			for _, j := range n.of(clock) {
				for b := 0; b < len(times[j]); b += 1 + len(times[j])*n.parts/mostTimes {
					by := times[j][b] + least[j] - times[i][a]
					if least[i] < by && by < most[i] {
						stops = append(stops, float64(by-least[i])/float64(most[i]-least[i]))
					}
				}
			}
		}
	}
	slices.Sort(stops)
	stops = slices.Compact(stops)
	middles := []float64{0}
	for i := range stops[1:] {
		middles = append(middles, (stops[i]+stops[i+1])/2)
	}
	middles = append(middles, 1)
	list := [][]Clock{}
	number := min(len(middles), max(5, mostTried*mostEvents/events/len(n.lengths)))
	for k := range number {
		part := middles[k*(len(middles)-1)/(number-1)]
		add := make([]time.Duration, len(least))
		for i := range add {
			add[i] = least[i] + time.Duration(math.Round(part*float64(most[i]-least[i])))
		}
		list = append(list, n.clocks(add, add))
	}
	return list
}

// loose are the clocks by which the calls of all other clocks than one may take longest. The order
// within a millisecond of the server's log proves nothing.
func (n nodes) loose(least, most []time.Duration) []Clock {
	list := n.clocks(least, most)
	for i := range list {
		if n.logged {
			list[i].Least, list[i].Most = list[i].Least-tick, list[i].Most+tick
		}
	}
	return list
}

// clocks are those of the files, compared with the server's.
func (n nodes) clocks(least, most []time.Duration) (list []Clock) {
	server := time.Duration(0)
	if n.logged {
		server = least[n.server]
	}
	for i := range n.server {
		list = append(list, Clock{least[i] - server, most[i] - server})
	}
	return list
}
