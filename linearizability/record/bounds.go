package record

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// A moment is when a transaction was applied, or what has its place in their order: between two
// times of one clock.
type moment struct {
	zxid     int64
	from, to time.Duration
}

// momentsOf are those of each node, by the tokens of grants and by other calls that have changed
// something. It notes in the files which change a call has made.
func (n nodes) momentsOf(files []File, changes []Change) (tokens, calls [][]moment) {
	tokens, calls = make([][]moment, n.server+1), make([][]moment, n.server+1)
	var all []linearizability.Op
	for _, f := range files {
		all = append(all, f.History.Ops...)
	}
	creates := Creates(all, changes)
	for _, c := range changes {
		at := c.Clock.Sub(files[0].Began)
		calls[n.server] = append(calls[n.server], moment{c.Zxid, at, at + tick})
	}
	for i, f := range files {
		begins := func(to [][]moment, zxid int64, t time.Duration) {
			at := n.at(i, t)
			to[at] = append(to[at], moment{zxid, n.began[i] + t, far})
		}
		ends := func(to [][]moment, zxid int64, t time.Duration) {
			at := n.at(i, t)
			to[at] = append(to[at], moment{zxid, -far, n.began[i] + t})
		}
		granted, list := map[int64]bool{}, WithSessions(f.History.Ops, creates)
		files[i].made = map[int]int64{}
		for k, op := range list {
			if !grants(op) || granted[op.Token] {
				continue
			}
			granted[op.Token] = true
			ends(tokens, op.Token, op.ReturnTime)
			if before, doubtful := doubtfulBefore(list[:k], op); doubtful {
				begins(tokens, op.Token, before.CallTime) // it may have made the znode
			} else {
				begins(tokens, op.Token, op.CallTime)
				files[i].made[k] = op.Token
			}
		}
		if len(creates) == 0 && len(changes) > 0 {
			clear(files[i].made) // the order of the tokens says nothing of the server's changes
		}
		for _, e := range effectsIn(list, changes) {
			var from, to []time.Duration
			for k, op := range e.calls {
				from, to = append(from, list[op].CallTime), append(to, list[op].ReturnTime)
				if e.certain && e.alone && len(e.calls) == len(e.zxids) {
					files[i].made[op] = e.zxids[k]
				}
			}
			slices.Sort(from)
			slices.Sort(to)
			for k := range from { // k calls have returned, or are still to begin
				if ends(calls, e.zxids[k], to[k]); e.certain {
					begins(calls, e.zxids[k+len(e.zxids)-len(from)], from[k])
				}
			}
		}
	}
	if len(creates) > 0 {
		tokens[n.server] = calls[n.server]
		for i := range n.server {
			calls[i] = append(calls[i], tokens[i]...)
		}
	}
	return tokens, calls
}

// doubtfulBefore is the first of the calls like another one that its client made just before it,
// and that may have had an effect although they have not succeeded.
func doubtfulBefore(list []linearizability.Op, op linearizability.Op) (
	first linearizability.Op, found bool) {
	for _, before := range list {
		switch {
		case before.Client != op.Client || before.Kind != op.Kind:
		case before.OK():
			found = false
		case before.Outcome != linearizability.OpFailed && !found:
			first, found = before, true
		}
	}
	return first, found
}

// effects are calls that change a znode in their session before they return ok, and the changes.
var effects = []struct {
	calls     []string
	changes   []linearizability.ServerEventKind
	ephemeral bool
}{
	{[]string{ops.Lock, ops.Acquire, ops.Lead},
		[]linearizability.ServerEventKind{linearizability.NodeCreated}, true},
	{[]string{ops.Unlock, ops.Resign},
		[]linearizability.ServerEventKind{linearizability.NodeDeleted}, true},
	{[]string{ops.Offer, ops.Join},
		[]linearizability.ServerEventKind{linearizability.NodeCreated}, false},
	{[]string{ops.Poll, ops.Take, ops.Leave},
		[]linearizability.ServerEventKind{linearizability.NodeDeleted}, false},
	{[]string{ops.Add, ops.Write, ops.Update}, []linearizability.ServerEventKind{
		linearizability.NodeCreated, linearizability.DataChanged}, false},
}

// effect has the changes of a session, and the calls each of which has made one of them: when k of
// these have returned, k changes have been made.
type effect struct {
	calls []int // indices, in their order
	zxids []int64
	alone bool // the calls are of one client
	// No other call of these clients may have made a change that one of the calls has found.
	certain bool
}

// effectsIn finds the effects, if there are changes enough for the calls.
func effectsIn(list []linearizability.Op, changes []Change) (all []effect) {
	twice := reentered(list)
	for _, e := range effects {
		calls, zxids := map[int64][]int{}, map[int64][]int64{}
		for i, op := range list {
			if slices.Contains(e.calls, op.Kind) && op.OK() && !op.Empty && op.Session != 0 {
				calls[op.Session] = append(calls[op.Session], i)
			}
		}
		for _, c := range changes {
			if slices.Contains(e.changes, c.Kind) && (!e.ephemeral || c.Owner == c.Session) {
				zxids[c.Session] = append(zxids[c.Session], c.Zxid)
			}
		}
		for _, session := range slices.Sorted(maps.Keys(calls)) {
			if len(zxids[session]) >= len(calls[session]) && !twice[session] {
				found := effect{calls[session], zxids[session], true, true}
				for _, i := range found.calls {
					found.alone = found.alone && list[i].Client == list[found.calls[0]].Client
					_, doubtful := doubtfulBefore(list[:i], list[i])
					found.certain = found.certain && !doubtful
				}
				all = append(all, found)
			}
		}
	}
	return all
}

// reentered are the sessions of which it is not known which calls change something: a client was
// granted a lock before it released it, or takes elements that another call removes.
func reentered(list []linearizability.Op) map[int64]bool {
	twice, holds, acks := map[int64]bool{}, map[string]bool{}, false
	for _, op := range list {
		acks = acks || op.Kind == ops.Ack
	}
	for _, op := range list {
		switch op.Kind {
		case ops.Lock, ops.Lead:
			twice[op.Session] = twice[op.Session] || op.OK() && holds[op.Client]
			holds[op.Client] = holds[op.Client] || op.OK()
		case ops.Unlock, ops.Resign:
			holds[op.Client] = holds[op.Client] && op.Outcome == linearizability.OpFailed
		case ops.Poll, ops.Take:
			twice[op.Session] = twice[op.Session] || acks
		}
	}
	return twice
}

// grants reports whether an operation returned the token of a hold that it began.
func grants(op linearizability.Op) bool {
	return op.OK() && op.Token != 0 && op.Kind != ops.Use && op.Kind != ops.Leader &&
		op.Kind != ops.Hold
}

// differences has, for each two clocks i and j, the greatest value that what is added to i may be
// above what is added to those of j.
type differences [][]time.Duration

// unrelated are those of clocks that nothing relates.
func (n nodes) unrelated() differences {
	d := make(differences, n.server+1)
	for i := range d {
		d[i] = slices.Repeat([]time.Duration{far}, len(d))
		d[i][i] = 0
	}
	return d
}

// differencesOf are those that the order of the zxids gives: what has the smaller zxid, or the
// same one, began before the other was over.
func (n nodes) differencesOf(moments [][]moment) differences {
	d := n.unrelated()
	for _, list := range moments {
		slices.SortFunc(list, func(a, b moment) int { return cmp.Compare(a.zxid, b.zxid) })
	}
	for i := range d {
		for j := range d {
			if i == j {
				continue
			}
			from, next := -far, 0 // the latest beginning of what is not after b
			for _, b := range moments[j] {
				for ; next < len(moments[i]) && moments[i][next].zxid <= b.zxid; next++ {
					from = max(from, moments[i][next].from)
				}
				if from > -far && b.to < far {
					d[i][j] = min(d[i][j], b.to-from+n.drifted(i, j))
				}
			}
		}
	}
	return d
}

// offersAndTakes are the differences by which no element is taken before its offer begins.
func (n nodes) offersAndTakes(files []File) differences {
	type offer struct {
		node int
		at   time.Duration
	}
	d, offers := n.unrelated(), map[string]offer{}
	for i, f := range files {
		for _, op := range f.History.Ops {
			if op.Kind == ops.Offer {
				offers[op.Input] = offer{n.at(i, op.CallTime), n.began[i] + op.CallTime}
			}
		}
	}
	for j, f := range files {
		for _, op := range f.History.Ops {
			o, known := offers[op.Output]
			takes := op.Kind == ops.Poll || op.Kind == ops.Take || op.Kind == ops.Peek
			if takes && known && op.OK() && !op.Empty && o.node/n.parts != n.clock[j] {
				node := n.at(j, op.ReturnTime)
				d[o.node][node] = min(d[o.node][node],
					n.began[j]+op.ReturnTime-o.at+n.drifted(o.node, node))
			}
		}
	}
	return d
}

// close adds what follows from two differences, and reports whether any values satisfy all.
func (d differences) close() bool {
	for k := range d {
		for i := range d {
			for j := range d {
				if d[i][k] < far && d[k][j] < far {
					d[i][j] = min(d[i][j], d[i][k]+d[k][j])
				}
			}
		}
	}
	for i := range d {
		if d[i][i] < 0 {
			return false
		}
	}
	return true
}

// and is a copy of d with more differences, or d and false if no values satisfy all.
func (d differences) and(more differences) (differences, bool) {
	all := d.clone()
	for i := range d {
		for j := range d[i] {
			all[i][j] = min(d[i][j], more[i][j])
		}
	}
	if !all.close() {
		return d, false
	}
	return all, true
}

func (d differences) clone() differences {
	same := slices.Clone(d)
	for i := range d {
		same[i] = slices.Clone(d[i])
	}
	return same
}

// likely are clocks in the middle of their bounds or, without two bounds, as they are if they may.
func (d differences) likely(base int) (list []time.Duration) {
	d = d.clone()
	for i := range d {
		c := Clock{-d[base][i], d[i][base]}
		at := min(max(c.Least, 0), c.Most)
		if c.Bounded() {
			at = c.Least + (c.Most-c.Least)/2
		}
		d[base][i], d[i][base] = -at, at
		for k := range d { // the next ones have to go with it
			d[base][k] = min(d[base][k], plus(-at, d[i][k]))
			d[k][base] = min(d[k][base], plus(d[k][i], at))
		}
		list = append(list, at)
	}
	return list
}

func plus(a, b time.Duration) time.Duration {
	if a >= far || b >= far {
		return far
	}
	return a + b
}

// end bounds what nothing bounds: with clocks that differ by more all events of one clock come
// before those of another one, too.
func (d differences) end(times [][]time.Duration) {
	apart := time.Second
	for i := range d {
		for _, t := range times[i] {
			apart = max(apart, 2*t.Abs()+time.Second)
		}
		for j := range d {
			if d[i][j] < far {
				apart = max(apart, 2*d[i][j].Abs())
			}
		}
	}
	for i := range d {
		for j := range d {
			d[i][j] = min(d[i][j], 2*apart)
		}
	}
	d.close()
}

// around are the least and the greatest values that all clocks may have if some have those given.
func (d differences) around(some []int, given []time.Duration) (least, most []time.Duration) {
	for i := range d {
		low, high := -far, far
		for _, j := range some {
			low, high = max(low, given[j]-d[j][i]), min(high, given[j]+d[i][j])
		}
		least, most = append(least, low), append(most, high)
	}
	return least, most
}
