package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/record"
)

// changeKinds are the kinds of changes as the judges have them.
var changeKinds = map[trace.ChangeKind]linearizability.ServerEventKind{
	trace.NodeCreated:    linearizability.NodeCreated,
	trace.NodeDeleted:    linearizability.NodeDeleted,
	trace.DataChanged:    linearizability.DataChanged,
	trace.SessionStarted: linearizability.SessionStarted,
	trace.SessionEnded:   linearizability.SessionEnded,
}

// changes are the changes of the object in the log of the server, nil without one.
func (c *Command) changes(k kind, h linearizability.History) ([]record.Change, error) {
	if c.ServerLog == "" {
		return nil, nil
	}
	log, err := realworld.LogChanges(c.ServerLog)
	if err != nil {
		return nil, fmt.Errorf("--server-log: %w", err)
	}
	if len(log) == 0 {
		return nil, fmt.Errorf("--server-log: %s has no transaction log (version-2/log.*)", c.ServerLog)
	}
	var paths []string
	for _, l := range log {
		if l.Path != "" {
			paths = append(paths, l.Path)
		}
	}
	if err := c.checkPaths(paths, h); err != nil {
		return nil, err
	}
	all := make([]record.Change, len(log))
	for i, l := range log {
		all[i] = record.Change{Clock: l.Clock, ServerEvent: linearizability.ServerEvent{
			Kind: changeKinds[l.Kind], Path: l.Path, Data: string(l.Data), Zxid: l.Zxid,
			Czxid: l.Czxid, Session: l.Session, Owner: l.Owner,
		}}
	}
	if err := c.checkTokens(record.Creates(h.Ops, all)); err != nil {
		return nil, err
	}
	h.Ops = record.WithSessions(h.Ops, record.Creates(h.Ops, c.ofObject(all, nil)))
	sessions := sessionsOf(h)
	list := c.ofObject(all, sessions)
	if slices.ContainsFunc(h.Ops, writes) && !hasChangeOf(list, sessions) {
		return nil, fmt.Errorf("--server-log: no client of the history has changed a znode of %s: "+
			"the %s has another path, the log is of another ensemble, or no call has its session",
			c.Path, k.name)
	}
	return list, checkSessions(h)
}

// checkTokens returns an error if none of the znodes of the tokens is the object's.
func (c *Command) checkTokens(creates map[int64]record.Change) error {
	var made []string
	for _, e := range creates {
		made = append(made, e.Path)
	}
	if len(made) == 0 || slices.ContainsFunc(made, c.isBelow) {
		return nil
	}
	return fmt.Errorf("--path: %s: the znodes of the tokens are not there; they are at %s",
		c.Path, listed(made, c.Path))
}

// checkSessions returns an error if a client was granted something, and no call shows its session:
// then it is not known which znodes are its own.
func checkSessions(h linearizability.History) error {
	known := map[string]bool{}
	for _, op := range h.Ops {
		known[op.Client] = known[op.Client] || op.Session != 0
	}
	for _, op := range h.Ops {
		if op.OK() && holds(op) && !known[op.Client] {
			return fmt.Errorf("--server-log: no call of %s has its session, and no token shows it: "+
				"it is not known which znodes are its own", op.Client)
		}
	}
	return nil
}

// holds reports whether by an operation a client comes to hold something by a znode of its own.
func holds(op linearizability.Op) bool {
	return slices.Contains([]string{ops.Lock, ops.Acquire, ops.Lead}, op.Kind)
}

// writes reports whether an operation has succeeded that must have changed a znode.
func writes(op linearizability.Op) bool {
	kinds := []string{
		ops.Offer, ops.Poll, ops.Take, ops.Write, ops.CAS, ops.Add, ops.Next, ops.Enter, ops.Begin,
		ops.Vote, ops.Join, ops.Update,
	}
	return op.OK() && !op.Empty && op.Output != ops.Refused &&
		(holds(op) || slices.Contains(kinds, op.Kind))
}

// hasChangeOf reports whether a znode was changed in one of the sessions.
func hasChangeOf(list []record.Change, sessions map[int64]bool) bool {
	return slices.ContainsFunc(list, func(e record.Change) bool {
		return e.Path != "" && sessions[cmp.Or(e.Session, e.Owner)]
	})
}

// withServer adds the changes of the log of the server, and returns notes about them.
func (c *Command) withServer(file record.File, changes []record.Change) (
	record.File, []string, error) {
	if c.ServerLog == "" {
		return file, nil, nil
	}
	if file.Began.IsZero() {
		return file, nil, fmt.Errorf("--server-log: the history does not say when it began: " +
			"only a history of zksim does")
	}
	file, offset, err := file.WithServer(changes)
	if err != nil {
		return file, nil, fmt.Errorf("--server-log: %w", err)
	}
	steps := "the events and these changes"
	if len(c.Files) > 1 {
		steps = "the events of all files and these changes"
	}
	notes := []string{fmt.Sprintf("The server made %s of %s. A step counts %s. Stories and pictures have the lines of the events.",
		command.Plural(len(file.History.Server), "change"), c.Path, steps)}
	if offset != 0 {
		notes = append(notes, fmt.Sprintf("The tokens show that the clocks differ: "+
			"%s were added to the server's.", offset.Round(time.Millisecond)))
	}
	sessions, strange := sessionsOf(file.History), 0
	for _, e := range file.History.Server {
		if e.Path != "" && e.Session != 0 && !sessions[e.Session] {
			strange++
		}
	}
	switch {
	case len(sessions) == 0:
		notes = append(notes, "No call has a session: it is not known which client made a change.")
	case strange > 0:
		notes = append(notes, fmt.Sprintf("The server made %s in sessions that no call has: were all "+
			"clients recorded, with their sessions?", command.Plural(strange, "change")))
	}
	if len(sessions) > 0 && !hasChangeOf(changes, sessions) {
		notes = append(notes, fmt.Sprintf("No client of the history has changed a znode of %s: the "+
			"verdicts rest on calls that change nothing, and --path may be wrong.", c.Path))
	}
	return file, notes, nil
}

// sessionsOf are the sessions of the calls.
func sessionsOf(h linearizability.History) map[int64]bool {
	sessions := map[int64]bool{}
	for _, op := range h.Ops {
		if op.Session != 0 {
			sessions[op.Session] = true
		}
	}
	return sessions
}

// ofObject returns the changes of the object's znodes and of the clients' sessions.
func (c *Command) ofObject(all []record.Change, sessions map[int64]bool) (list []record.Change) {
	for _, e := range all {
		aboutSession := e.Kind == linearizability.SessionStarted ||
			e.Kind == linearizability.SessionEnded
		if aboutSession && sessions[e.Owner] || !aboutSession && c.isBelow(e.Path) {
			list = append(list, e)
		}
	}
	return list
}
