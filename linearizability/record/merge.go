package record

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/linearizability"
)

// Merge unites the histories of one object that several processes have recorded, a file for each.
// add is what is added to their times, as [Align] has it; nil if they have one clock. Steps count
// the events of all files. A client whose name another file has, too, gets the name of its file,
// which names has, with as many directories as tell the files apart. Two files of one recording are
// an error.
func Merge(files []File, names []string, add []Clock) (File, error) {
	merged := File{Began: files[0].Began, Complete: true}
	var events []filedEvent
	labels, nodes := distinct(names), newNodes(files)
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
		rename, own := renamer(files, labels, i), []filedEvent{}
		keep := func(e filedEvent) {
			e.file = i
			switch node := nodes.at(i, e.at); {
			case add != nil && e.returns:
				e.at += add[node].Most
			case add != nil:
				e.at += add[node].Least
			}
			e.at += nodes.began[i]
			own = append(own, e)
		}
		for k, op := range f.History.Ops {
			op.Client = rename(op.Client)
			keep(filedEvent{at: op.CallTime, step: op.Call, op: &op, zxid: f.made[k]})
			if op.Return >= 0 {
				keep(filedEvent{at: op.ReturnTime, step: op.Return, op: &op, zxid: f.made[k],
					returns: true})
			}
		}
		for _, n := range f.History.Notices {
			n.Client = rename(n.Client)
			keep(filedEvent{at: n.Time, step: n.Step, notice: &n})
		}
		if !slices.ContainsFunc(add, func(c Clock) bool { return c.Least < c.Most }) {
			inTheirOrder(own)
		}
		events = append(events, own...)
	}
	first := time.Duration(0)
	events = byTransactions(events, len(files))
	merged.lines = make([]origin, 1, len(events)+1)
	for _, e := range events {
		merged.lines = append(merged.lines, origin{names[e.file], e.step})
	}
	merged.History, merged.made, first = inOrder(events)
	merged.Began = merged.Began.Add(first)
	return merged, nil
}

// filedEvent is an event of one of several files, at a time of their common clock.
type filedEvent struct {
	at      time.Duration
	file    int
	step    int64 // in its file
	op      *linearizability.Op
	returns bool
	zxid    int64 // of the change that op has made, 0 if it is not known
	notice  *linearizability.Notice
}

// inTheirOrder puts the events of a file in the order of its steps, at times that do not go back.
func inTheirOrder(events []filedEvent) {
	slices.SortFunc(events, func(a, b filedEvent) int { return cmp.Compare(a.step, b.step) })
	for i, e := range events[min(1, len(events)):] {
		events[i+1].at = max(e.at, events[i].at)
	}
}

// byTransactions are the events in the order of their times, except that no call returns before the
// calls have begun whose changes are not after its own.
func byTransactions(events []filedEvent, files int) []filedEvent {
	slices.SortStableFunc(events, func(a, b filedEvent) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.file, b.file))
	})
	queues := make([][]filedEvent, files)
	var due []int64 // the changes of calls that are to begin
	for _, e := range events {
		queues[e.file] = append(queues[e.file], e)
		if e.zxid != 0 && !e.returns {
			due = append(due, e.zxid)
		}
	}
	slices.Sort(due)
	begun, now := map[int64]bool{}, time.Duration(math.MinInt64)
	for i := range events {
		for len(due) > 0 && begun[due[0]] {
			due = due[1:]
		}
		next, waits := -1, true
		for n, q := range queues {
			if len(q) == 0 {
				continue
			}
			waiting := q[0].returns && len(due) > 0 && due[0] < q[0].zxid
			if next < 0 || waits && !waiting || waits == waiting && q[0].at < queues[next][0].at {
				next, waits = n, waiting
			}
		}
		e := queues[next][0]
		queues[next] = queues[next][1:]
		begun[e.zxid] = begun[e.zxid] || !e.returns
		now = max(now, e.at)
		e.at = now
		events[i] = e
	}
	return events
}

// inOrder is the history of events in their order, whose times begin at the first one, with the
// changes that its operations have made.
func inOrder(events []filedEvent) (
	h linearizability.History, made map[int]int64, first time.Duration) {
	if len(events) > 0 {
		first = min(0, events[0].at)
	}
	var ops []*linearizability.Op
	made = map[int]int64{}
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
			if e.op.Call, e.op.CallTime = step, at; e.zxid != 0 {
				made[len(ops)] = e.zxid
			}
			ops = append(ops, e.op)
		}
	}
	for _, op := range ops {
		h.Ops = append(h.Ops, *op)
	}
	return h, made, first
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
