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
	sessions := c.sessionsOf(h, log)
	list := c.ofObject(log, sessions)
	if holds(h) && !slices.ContainsFunc(list, func(e record.Change) bool {
		return e.Path != "" && sessions[cmp.Or(e.Session, e.Owner)]
	}) {
		return nil, fmt.Errorf("--server-log: no client of the history has changed a znode of %s: "+
			"the %s has another path, the log is of another ensemble, or no call has its session",
			c.Path, k.name)
	}
	return list, nil
}

// holds reports whether a client holds something by a znode of its own.
func holds(h linearizability.History) bool {
	return slices.ContainsFunc(h.Ops, func(op linearizability.Op) bool {
		return op.OK() && slices.Contains([]string{ops.Lock, ops.Acquire, ops.Lead}, op.Kind)
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
	notes := []string{fmt.Sprintf("The server made %s of %s. A step counts the events and these "+
		"changes: it is no line of the file.", command.Plural(len(file.History.Server), "change"), c.Path)}
	if offset != 0 {
		notes = append(notes, fmt.Sprintf("The tokens show that the clocks differ: "+
			"%s were added to the server's.", offset.Round(time.Millisecond)))
	}
	sessions, strange := c.sessionsOf(file.History, nil), 0
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
	return file, notes, nil
}

// sessionsOf are the sessions of the calls, and of the znodes of their tokens.
func (c *Command) sessionsOf(
	h linearizability.History, log []realworld.LogChange,
) map[int64]bool {
	sessions, tokens := map[int64]bool{}, map[int64]bool{}
	for _, op := range h.Ops {
		if op.Session != 0 {
			sessions[op.Session] = true
		}
		if op.Token != 0 {
			tokens[op.Token] = true
		}
	}
	for _, l := range log {
		if l.Kind == trace.NodeCreated && tokens[l.Czxid] && c.isBelow(l.Path) {
			sessions[l.Session] = true
		}
	}
	return sessions
}

// ofObject returns the changes of the object's znodes and of the clients' sessions.
func (c *Command) ofObject(
	log []realworld.LogChange, sessions map[int64]bool,
) (list []record.Change) {
	for _, l := range log {
		aboutSession := l.Kind == trace.SessionStarted || l.Kind == trace.SessionEnded
		if aboutSession && !sessions[l.Owner] || !aboutSession && !c.isBelow(l.Path) {
			continue
		}
		list = append(list, record.Change{Clock: l.Clock, ServerEvent: linearizability.ServerEvent{
			Kind: changeKinds[l.Kind], Path: l.Path, Data: string(l.Data), Zxid: l.Zxid,
			Czxid: l.Czxid, Session: l.Session, Owner: l.Owner,
		}})
	}
	return list
}
