package record

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// A Clock is what is known of the clock of a process: what to add to its times, so that all times
// are of one clock. Least and Most are the bounds that the tokens give, and Likely is the value
// between them to begin with, as little as they allow.
type Clock struct{ Least, Likely, Most time.Duration }

// far is a bound of a Clock that the tokens do not give.
const far = time.Duration(1 << 62)

// Bounded reports whether the tokens give both bounds.
func (c Clock) Bounded() bool { return c.Least > -far && c.Most < far }

func (c Clock) likely() Clock {
	switch {
	case c.Least <= 0 && c.Most >= 0:
	case c.Least > 0:
		c.Likely = c.Least + min(tick, (c.Most-c.Least)/2)
	default:
		c.Likely = c.Most - min(tick, (c.Most-c.Least)/2)
	}
	return c
}

// Align finds how far the clocks of the processes of several files differ. The tokens of their
// grants must be czxids: a grant took place between its call and its return, and the tokens give
// the order. With the changes in the server's log, all clocks are compared with the server's;
// without, with that of the first file. It is an error if no clocks explain all tokens.
//
// Of the clocks within these bounds those are likely that explain more: that the delete of a
// release, as the log has it, took place in its call, and that nobody had a lock, or led, before
// the last holder released.
func Align(files []File, changes []Change) ([]Clock, error) {
	m := momentsOf(files, changes)
	base, d := 0, differencesOf(m.grants)
	if len(m.grants) > len(files) {
		base = len(files)
	}
	if !d.close() {
		return nil, errors.New("no difference of the clocks explains the tokens of all files: the files " +
			"are of several runs, or a clock was set, or tokens did not grow with the grants")
	}
	likely := d.and(differencesOf(m.all)).and(differencesOf(m.turns))
	var clocks []Clock
	for i := range files {
		l := Clock{Least: -likely[base][i], Most: likely[i][base]}.likely().Likely
		clocks = append(clocks, Clock{Least: -d[base][i], Likely: l, Most: d[i][base]})
		likely[base][i], likely[i][base] = -l, l // the next ones have to go with it
		likely.close()
	}
	return clocks, nil
}

// A moment is when a transaction was applied, or what has its place in their order: between two
// times of one clock.
type moment struct {
	zxid     int64
	from, to time.Duration
}

// moments are those of each file, and of the server behind them, if its log has any.
type moments struct {
	grants [][]moment // a znode is created
	all    [][]moment // and deleted, by a release
	turns  [][]moment // a hold begins before a time, or ends after one
}

func momentsOf(files []File, changes []Change) (m moments) {
	deletes := map[int64]Change{} // by the czxid
	var creates, deleted []moment // at the server
	for _, c := range changes {
		at := c.Clock.Sub(files[0].Began)
		switch now := (moment{c.Zxid, at, at + tick}); {
		case c.Czxid == 0:
		case c.Kind == linearizability.NodeCreated:
			creates = append(creates, now)
		case c.Kind == linearizability.NodeDeleted && c.Session != 0:
			deletes[c.Czxid], deleted = c, append(deleted, now)
		}
	}
	var calls []linearizability.Op
	for _, f := range files {
		calls = append(calls, f.History.Ops...)
	}
	if len(Creates(calls, changes)) == 0 { // their order says nothing of the server's clock
		creates, deleted, deletes = nil, nil, nil
	}
	m.turns = make([][]moment, len(files), len(files)+1)
	holds := make([][]hold, len(files))
	for n, f := range files {
		holds[n] = holdsOf(f.History.Ops, deletes)
	}
	last := endings(holds)
	for n, f := range files {
		shift := f.Began.Sub(files[0].Began)
		at := func(op linearizability.Op, zxid int64) moment {
			return moment{zxid, shift + op.CallTime, shift + op.ReturnTime}
		}
		var grants, releases []moment
		for _, h := range holds[n] {
			grants = append(grants, at(h.grant, h.grant.Token))
			if h.deleted > 0 {
				releases = append(releases, at(*h.release, h.deleted))
			}
			if !excludes(h.grant) {
				continue
			}
			begin := at(h.grant, last(h.grant.Token))
			m.turns[n] = append(m.turns[n], moment{begin.zxid, -far, begin.to})
			switch {
			case h.deleted > 0:
				m.turns[n] = append(m.turns[n], moment{h.deleted, shift + h.release.CallTime, far})
			case h.release != nil && len(creates) == 0:
				m.turns[n] = append(m.turns[n],
					moment{h.grant.Token, shift + h.release.CallTime, far})
			} // else znodes of later holds are created before its end
		}
		m.grants, m.all = append(m.grants, grants), append(m.all, slices.Concat(grants, releases))
	}
	if len(creates) > 0 {
		m.grants, m.all = append(m.grants, creates), append(m.all, slices.Concat(creates, deleted))
		m.turns = append(m.turns, nil)
	}
	for i, list := range m.all {
		m.turns[i] = append(m.turns[i], list...)
	}
	return m
}

// endings returns a function that finds the last transaction before a hold with a token begins: the
// delete of an earlier hold, or its own create.
func endings(holds [][]hold) func(token int64) int64 {
	type end struct{ token, last int64 } // the last delete of the holds up to this one
	var ends []end
	for _, h := range slices.Concat(holds...) {
		if h.deleted > 0 {
			ends = append(ends, end{h.grant.Token, h.deleted})
		}
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Compare(a.token, b.token) })
	for i := range ends[min(1, len(ends)):] {
		ends[i+1].last = max(ends[i+1].last, ends[i].last)
	}
	return func(token int64) int64 {
		n, _ := slices.BinarySearchFunc(ends, token, func(e end, token int64) int {
			return cmp.Compare(e.token, token)
		})
		if n == 0 {
			return token
		}
		return max(token, ends[n-1].last)
	}
}

// hold is a grant, and the release that ended it, if that is known.
type hold struct {
	grant   linearizability.Op
	release *linearizability.Op
	deleted int64 // the zxid of the delete by which it was released, 0 if that is not known
}

// holdsOf are the holds of the clients of a file. A release is known if it has succeeded, and its
// client had one hold. A release, or both calls, may have been recorded without a session. Later
// grants of a token belong to its hold, which ends with the last of as many releases.
func holdsOf(all []linearizability.Op, deletes map[int64]Change) (list []hold) {
	held := map[string][]int{} // holds of each client that may go on, one for each grant
	first := map[int64]int{}   // holds by their token
	for _, op := range all {
		switch holds := held[op.Client]; {
		case isReport(op):
		case grants(op):
			n, again := first[op.Token]
			if !again {
				n, first[op.Token] = len(list), len(list)
				list = append(list, hold{grant: op})
			}
			held[op.Client] = append(holds, n)
		case op.OK() && len(holds) > 1 && len(slices.Compact(slices.Clone(holds))) == 1:
			held[op.Client] = holds[1:] // the hold goes on
		default:
			if op.OK() && len(holds) == 1 {
				h := &list[holds[0]]
				session := cmp.Or(op.Session, h.grant.Session)
				if c := deletes[h.grant.Token]; session == 0 || c.Session == session {
					h.deleted = c.Zxid
				}
				h.release = &op
			}
			held[op.Client] = nil
		}
	}
	return list
}

// excludes reports whether a hold excludes all others of its object.
func excludes(grant linearizability.Op) bool {
	return grant.Kind == ops.Lead || grant.Kind == ops.Lock && grant.Input != ops.ReadMode &&
		grant.Input != ops.WriteMode
}

// grants reports whether an operation returned the token of a hold that it began.
func grants(op linearizability.Op) bool { return op.OK() && op.Token != 0 && !isReport(op) }

// isReport reports whether an operation tells of a hold, and neither begins nor ends one.
func isReport(op linearizability.Op) bool {
	return slices.Contains([]string{ops.Use, ops.Leader, ops.Hold}, op.Kind)
}

// differences has, for each two clocks i and j, the greatest value that what is added to i may be
// above what is added to j.
type differences [][]time.Duration

// differencesOf are those that the order of the zxids gives: what has the smaller zxid, or the
// same one, began before the other was over.
func differencesOf(moments [][]moment) differences {
	d := make(differences, len(moments))
	for _, list := range moments {
		slices.SortFunc(list, func(a, b moment) int { return cmp.Compare(a.zxid, b.zxid) })
	}
	for i := range d {
		d[i] = make([]time.Duration, len(moments))
		for j := range d[i] {
			if i == j {
				continue
			}
			d[i][j] = far
			from, n := -far, 0 // the latest beginning of what is not after b
			for _, b := range moments[j] {
				for ; n < len(moments[i]) && moments[i][n].zxid <= b.zxid; n++ {
					from = max(from, moments[i][n].from)
				}
				if from > -far && b.to < far {
					d[i][j] = min(d[i][j], b.to-from)
				}
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

// and is a copy of d with more differences, without them if no values satisfy all.
func (d differences) and(more differences) differences {
	same, all := make(differences, len(d)), make(differences, len(d))
	for i := range d {
		same[i], all[i] = slices.Clone(d[i]), slices.Clone(d[i])
		for j := range d[i] {
			all[i][j] = min(d[i][j], more[i][j])
		}
	}
	if !all.close() {
		return same
	}
	return all
}

// Merge unites the histories of one object that several processes have recorded, a file for each.
// add is what is added to the times of each file; see [Align]. Steps count the events of all files.
// A client whose name another file has, too, gets the name of its file, which names has, with as
// many directories as tell the files apart. Two files of one recording are an error.
func Merge(files []File, names []string, add []time.Duration) (File, error) {
	merged := File{Began: files[0].Began, Complete: true}
	var events []filedEvent
	labels := distinct(names)
	for i, f := range files {
		if n := slices.IndexFunc(files[:i], f.isOf); n >= 0 {
			return File{}, fmt.Errorf("%s and %s are of the same recording", names[n], names[i])
		}
		if f.History.Server != nil {
			return File{}, fmt.Errorf("%s has changes at the server; expected them by the server's "+
				"log", names[i])
		}
		if f.Began.IsZero() {
			return File{}, errors.New(names[i] + " does not say when it began")
		}
		merged.Complete = merged.Complete && f.Complete
		rename := renamer(files, labels, i)
		shift := f.Began.Sub(merged.Began) + add[i]
		add := func(e filedEvent) {
			e.at, e.file = e.at+shift, i
			events = append(events, e)
		}
		for _, op := range f.History.Ops {
			op.Client = rename(op.Client)
			add(filedEvent{at: op.CallTime, step: op.Call, op: &op})
			if op.Return >= 0 {
				add(filedEvent{at: op.ReturnTime, step: op.Return, op: &op, returns: true})
			}
		}
		for _, n := range f.History.Notices {
			n.Client = rename(n.Client)
			add(filedEvent{at: n.Time, step: n.Step, notice: &n})
		}
	}
	history, first := inOrder(events)
	merged.History, merged.Began = history, merged.Began.Add(first)
	return merged, nil
}

// filedEvent is an event of one of several files, at a time of their common clock.
type filedEvent struct {
	at      time.Duration
	file    int
	step    int64 // in its file
	op      *linearizability.Op
	returns bool
	notice  *linearizability.Notice
}

// inOrder is the history of the events, whose times begin at the first one. Those of one file keep
// their order.
func inOrder(events []filedEvent) (h linearizability.History, first time.Duration) {
	slices.SortStableFunc(events, func(a, b filedEvent) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.file, b.file),
			cmp.Compare(a.step, b.step))
	})
	if len(events) > 0 {
		first = min(0, events[0].at)
	}
	var ops []*linearizability.Op
	for i, e := range events {
		step, at := int64(i+1), e.at-first
		h.End, h.EndTime = step, at
		switch {
		case e.notice != nil:
			e.notice.Step, e.notice.Time = step, at
			h.Notices = append(h.Notices, *e.notice)
		case e.returns:
			e.op.Return, e.op.ReturnTime = step, at
		default:
			e.op.Call, e.op.CallTime = step, at
			ops = append(ops, e.op)
		}
	}
	for _, op := range ops {
		h.Ops = append(h.Ops, *op)
	}
	return h, first
}

// renamer names the clients of a file.
func renamer(files []File, names []string, of int) func(string) string {
	taken := map[string]bool{}
	for i, f := range files {
		if i == of {
			continue
		}
		for _, op := range f.History.Ops {
			taken[op.Client] = true
		}
		for _, n := range f.History.Notices {
			taken[n.Client] = true
		}
	}
	return func(client string) string {
		if !taken[client] {
			return client
		}
		return names[of] + "/" + client
	}
}

// isOf reports whether both files have the same calls, as far as both go. Of a call that one file
// has without its return, the returns say nothing.
func (f File) isOf(other File) bool {
	a, b := f.History.Ops, other.History.Ops
	n := min(len(a), len(b))
	return n > 0 && f.Began.Equal(other.Began) &&
		slices.EqualFunc(a[:n], b[:n], func(a, b linearizability.Op) bool {
			if a.Return < 0 || b.Return < 0 {
				return a.Client == b.Client && a.Kind == b.Kind && a.Input == b.Input &&
					a.CallTime == b.CallTime
			}
			a.Call, a.Return = b.Call, b.Return // steps
			return a == b
		})
}

// distinct are the names of files without their extensions, and with as many of their directories
// as it takes to tell them apart. A file that even these do not tell apart keeps its whole name.
func distinct(files []string) []string {
	names := slices.Clone(files)
	for i, file := range files {
		clashes := func(name string) bool {
			for j, other := range files {
				whole := "/" + filepath.ToSlash(other)
				stem := strings.TrimSuffix(whole, filepath.Ext(whole))
				if j != i && (strings.HasSuffix(stem, "/"+name) || strings.HasSuffix(whole, "/"+name)) {
					return true
				}
			}
			return false
		}
		stem := strings.TrimSuffix(filepath.ToSlash(file), filepath.Ext(file))
		for from := len(stem); from >= 0; {
			from = strings.LastIndex(stem[:from], "/")
			if name := stem[from+1:]; !clashes(name) {
				names[i] = name
				break
			}
		}
	}
	return names
}
