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
)

// A Clock is what is known of the clock of a process: what to add to its times, so that all times
// are of one clock. Least and Most are the bounds that the tokens give, and Likely is the value
// between them to begin with: none, if the bounds allow that the clocks agree.
type Clock struct{ Least, Likely, Most time.Duration }

// far is a bound of a Clock that the tokens do not give.
const far = time.Duration(1 << 62)

// Bounded reports whether the tokens give both bounds.
func (c Clock) Bounded() bool { return c.Least > -far && c.Most < far }

func (c Clock) likely() Clock {
	switch {
	case c.Least <= 0 && c.Most >= 0:
	case c.Bounded():
		c.Likely = (c.Least + c.Most) / 2
	case c.Least > 0:
		c.Likely = c.Least + tick
	default:
		c.Likely = c.Most - tick
	}
	return c
}

// Align finds how far the clocks of the processes of several files differ. The tokens of their
// grants must be czxids: a grant took place between its call and its return, and the tokens give
// the order. With the changes in the server's log, all clocks are compared with the server's;
// without, with that of the first file. It is an error if no clocks explain all tokens.
func Align(files []File, changes []Change) ([]Clock, error) {
	var moments [][]moment // of each file, and of the server behind them
	for _, f := range files {
		moments = append(moments, grantsOf(f, f.Began.Sub(files[0].Began)))
	}
	base := 0
	if created := creationsOf(changes, files[0].Began); len(created) > 0 {
		base, moments = len(files), append(moments, created)
	}
	d := differencesOf(moments)
	if !d.close() {
		return nil, errors.New("no difference of the clocks explains the tokens of all files: the files " +
			"are of several runs, or a clock was set, or tokens did not grow with the grants")
	}
	var clocks []Clock
	for i := range files {
		clocks = append(clocks, Clock{Least: -d[base][i], Most: d[i][base]})
	}
	for i := range clocks {
		likely := Clock{Least: -d[base][i], Most: d[i][base]}.likely().Likely
		clocks[i].Likely = likely
		d[base][i], d[i][base] = -likely, likely // the next ones have to go with it
		d.close()
	}
	return clocks, nil
}

// A moment is when a znode was created: between two times of one clock.
type moment struct {
	token    int64
	from, to time.Duration
}

// grantsOf are the grants of a file. began is its beginning, since that of the first file.
func grantsOf(f File, began time.Duration) (list []moment) {
	for _, op := range f.History.Ops {
		if op.OK() && op.Token != 0 && op.Kind != "use" {
			list = append(list, moment{op.Token, began + op.CallTime, began + op.ReturnTime})
		}
	}
	return list
}

// creationsOf are the znodes that the server has created.
func creationsOf(changes []Change, began time.Time) (list []moment) {
	for _, c := range changes {
		if c.Kind == linearizability.NodeCreated && c.Czxid != 0 {
			at := c.Clock.Sub(began)
			list = append(list, moment{c.Czxid, at, at + tick})
		}
	}
	return list
}

// differences has, for each two clocks i and j, the greatest value that what is added to i may be
// above what is added to j.
type differences [][]time.Duration

// differencesOf are those that the order of the tokens gives: what has the smaller token, or the
// same one, began before the other was over.
func differencesOf(moments [][]moment) differences {
	d := make(differences, len(moments))
	for _, list := range moments {
		slices.SortFunc(list, func(a, b moment) int { return cmp.Compare(a.token, b.token) })
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
				for ; n < len(moments[i]) && moments[i][n].token <= b.token; n++ {
					from = max(from, moments[i][n].from)
				}
				if n > 0 {
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

// Merge unites the histories of one object that several processes have recorded, a file for each.
// add is what is added to the times of each file; see [Align]. Steps count the events of all files.
// A client whose name another file has, too, gets the name of its file, which names has.
func Merge(files []File, names []string, add []time.Duration) (File, error) {
	merged := File{Began: files[0].Began, Complete: true}
	var events []filedEvent
	for i, f := range files {
		if f.History.Server != nil {
			return File{}, fmt.Errorf("%s has changes at the server; expected them by the server's "+
				"log", names[i])
		}
		if f.Began.IsZero() {
			return File{}, errors.New(names[i] + " does not say when it began")
		}
		merged.Complete = merged.Complete && f.Complete
		rename := renamer(files, names, i)
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
		base := filepath.Base(names[of])
		return strings.TrimSuffix(base, filepath.Ext(base)) + "/" + client
	}
}
