package serve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/tree"
	"github.com/zksim/zksim/fakezk/view"
)

type recordEntry struct {
	Number  int64  `json:"number"`
	Time    string `json:"time" format:"date-time"`
	Kind    string `json:"kind" enum:"request,notification,fault,event,call"`
	Session string `json:"session,omitempty"`
	Op      string `json:"op,omitempty"`
	Path    string `json:"path,omitempty"`
	Text    string `json:"text"`
	Data    string `json:"data,omitempty" about:"of the znode, that a request writes or reads, at most 200 bytes; if it is not text, its length"`
}

func recordEntryOf(r view.Record) recordEntry {
	return recordEntry{
		Number: r.Number, Time: r.Time.UTC().Format(time.RFC3339Nano), Kind: string(r.Kind),
		Session: r.Session, Op: r.Op, Path: r.Path, Text: r.Text, Data: recordData(r.Data),
	}
}

// recordData is data as it is shown.
func recordData(data []byte) string {
	const most = 200
	switch {
	case !tree.IsText(data):
		return command.Plural(len(data), "byte")
	case len(data) > most:
		return strings.ToValidUTF8(string(data[:most]), "") + "..."
	}
	return string(data)
}

// recordKinds are the kinds of records.
var recordKinds = []string{"request", "notification", "fault", "event", "call"}

// historyEntry is a part of the history.
type historyEntry struct {
	Records []recordEntry `json:"records"`
	Lost    int64         `json:"lost" about:"records after the number of after that are no longer kept"`
	Last    int64         `json:"last" about:"the number for the next after"`
}

// lastRecord is the number of the last record.
func (s *namespace) lastRecord() int64 {
	records := s.History(0)
	if len(records) == 0 {
		return 0
	}
	return records[len(records)-1].Number
}

// recordFilter selects records.
type recordFilter struct {
	kind, session, op string
	path              fault.Fault // for its glob
}

// restOps are the operations of records that are no requests.
var restOps = []string{
	"NodeCreated", "NodeDeleted", "NodeDataChanged", "NodeChildrenChanged", "put", "remove", "load",
	"reset", "expire", "drop", "stall", "inject", "clear", "stop", "restart",
}

// filter reads the parameters that select records.
func (r *request) filter() (recordFilter, error) {
	query := r.URL.Query()
	f := recordFilter{query.Get("kind"), query.Get("session"), query.Get("op"),
		fault.Fault{Kind: fault.Cut, Request: 1, Path: query.Get("path")}}
	if f.kind != "" && !slices.Contains(recordKinds, f.kind) {
		return f, fmt.Errorf("kind=%s: expected %s", f.kind, strings.Join(recordKinds, ", "))
	}
	asFault := fault.Fault{Kind: fault.Cut, Request: 1, Op: f.op}
	if err := asFault.Validate(); err != nil && !slices.Contains(restOps, f.op) {
		return f, fmt.Errorf("op=%s: no operation has this name; create, getData, NodeCreated "+
			"and put are some", f.op)
	}
	if err := f.path.Validate(); err != nil {
		return f, fmt.Errorf("path=%s: expected a glob such as /app/* or /app/**", f.path.Path)
	}
	if id, err := findSession(r.Server, f.session); err == nil {
		f.session = r.nameOf(id)
	}
	return f, nil
}

// nameOf is the name of a live session, "" for any other.
func (s *namespace) nameOf(id int64) string {
	for _, session := range s.Sessions() {
		if session.ID == id {
			return session.Name
		}
	}
	return ""
}

func (f recordFilter) takes(r view.Record) bool {
	return (f.kind == "" || f.kind == string(r.Kind)) && (f.op == "" || f.op == r.Op) &&
		(f.session == "" || f.session == r.Session) &&
		f.path.Selects(fault.Coordinate{Path: r.Path})
}

// part selects records after a number.
func (f recordFilter) part(records []view.Record, after int64) historyEntry {
	part := historyEntry{Records: []recordEntry{}, Last: after}
	if len(records) > 0 {
		part.Lost, part.Last = records[0].Number-after-1, records[len(records)-1].Number
	}
	for _, r := range records {
		if f.takes(r) {
			part.Records = append(part.Records, recordEntryOf(r))
		}
	}
	return part
}

// after reads the number of the record after which the requested records begin.
func (r *request) after(name, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if last := r.lastRecord(); err != nil || n < 0 || n > last {
		return 0, fmt.Errorf("%s %s: expected the number of a record, 0 to %d", name, text, last)
	}
	return n, nil
}

func getHistory(r *request) (part historyEntry, err error) {
	after, err := r.after("after", r.URL.Query().Get("after"))
	if err != nil {
		return part, err
	}
	filter, err := r.filter()
	if err != nil {
		return part, err
	}
	part = filter.part(r.History(after), after)
	for len(part.Records) == 0 {
		records, err := r.AwaitHistory(r.ctx, part.Last)
		if err != nil {
			return part, r.ending(err)
		}
		next := filter.part(records, part.Last)
		next.Lost += part.Lost
		part = next
	}
	return part, nil
}
