package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/linearizability"
)

// record holds the lines of a driver about one run. Steps are nanoseconds since the
// run began, by the clock of the machine. A driver takes the time before a call and
// after its return, so the change at the server lies between the two.
type record struct {
	ops     []linearizability.Op
	open    map[string]int // the call of each client that has not returned
	notices []linearizability.Notice
	began   int64
	note    string // the error that ended a script early
	story   []string
}

func newRecord() *record { return &record{open: map[string]int{}, began: time.Now().UnixNano()} }

// take records one line.
func (r *record) take(words []string) error {
	r.story = append(r.story, strings.Join(words, " "))
	if words[0] == "note" {
		r.note = strings.Join(words[1:], " ")
		return nil
	}
	if len(words) < 3 {
		return fmt.Errorf("%w: it prints %q; expected a word, a client and a time", errDriver,
			words)
	}
	ns, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return fmt.Errorf("%w: it prints %q: %w", errDriver, words, err)
	}
	return r.at(ns-r.began, words[0], words[1], append(words[3:], "", ""))
}

// at records an event at a step.
func (r *record) at(step int64, what, client string, more []string) error {
	now := time.Duration(step)
	i, calling := r.open[client]
	if what == "call" {
		if calling {
			return fmt.Errorf("%w: %s calls %s within %s",
				errDriver, client, more[0], r.ops[i].Kind)
		}
		r.open[client] = len(r.ops)
		r.ops = append(r.ops, linearizability.Op{
			Client: client, Kind: more[0], Input: more[1], Call: step, CallTime: now, Return: -1,
		})
		return nil
	}
	if what == "told" {
		kind, known := noticeKinds[more[0]]
		if !known {
			return fmt.Errorf("%w: %s is told %q", errDriver, client, more[0])
		}
		r.notices = append(r.notices, r.notice(step+r.began, client, kind))
		return nil
	}
	if !calling {
		return fmt.Errorf("%w: %s returns from no call", errDriver, client)
	}
	delete(r.open, client)
	op := &r.ops[i]
	op.Return, op.ReturnTime = step, now
	switch what {
	case "ok":
		op.Outcome, op.Output = linearizability.OpOK, more[0]
	case "empty":
		op.Outcome, op.Empty = linearizability.OpOK, true
	case "failed":
		op.Outcome, op.Err = linearizability.OpFailed, more[0]
	case "unknown":
		op.Outcome, op.Err = linearizability.OpUnknown, more[0]
	default:
		return fmt.Errorf("%w: it prints %q", errDriver, what)
	}
	return nil
}

// notice is a message to a client; at is in nanoseconds since 1970.
func (r *record) notice(
	at int64, client string, kind linearizability.NoticeKind,
) linearizability.Notice {
	step := at - r.began
	return linearizability.Notice{Client: client, Step: step, Time: time.Duration(step), Kind: kind}
}

// noticeKinds are the messages to clients, by the words of a driver. A signal of a
// loss ends a hold as the end of the session does.
var noticeKinds = map[string]linearizability.NoticeKind{
	"disconnected": linearizability.Disconnected,
	"lost":         linearizability.SessionExpired,
}

// history is the record so far.
func (r *record) history() linearizability.History {
	end := time.Now().UnixNano() - r.began
	return linearizability.History{
		Ops: slices.Clone(r.ops), Notices: slices.Clone(r.notices),
		End: end, EndTime: time.Duration(end),
	}
}
