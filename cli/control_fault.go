package cli

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/zksim/zksim/fakezk"
)

var faultEndpoints = []endpoint{
	{
		Method: "GET", Path: "/faults", Does: "the faults and whether they fired",
		handle: getFaults,
	},
	{
		Method: "POST", Path: "/faults",
		Takes: `{"line":"drop-reply op=create request=1"} or lines as in a plan`,
		Does:  "arm faults", handle: postFaults,
	},
	{
		Method: "DELETE", Path: "/faults", Does: "disarm all faults and end their effects",
		handle: deleteFaults,
	},
	{
		Method: "GET", Path: "/faults/{number}", Takes: "?wait=10s",
		Does: "one fault, with wait as soon as it has fired", handle: getFault,
		query: []string{"wait"},
	},
}

type faultEntry struct {
	Number  int    `json:"number"`
	Line    string `json:"line"`
	Matched int    `json:"matched"`
	Fired   bool   `json:"fired"`
}

func faultEntries(list []fakezk.FaultStatus) []faultEntry {
	entries := []faultEntry{}
	for _, f := range list {
		entries = append(entries, faultEntry{f.Number, f.Fault.String(), f.Matched, f.Fired})
	}
	return entries
}

func getFaults(r *controlRequest) (any, error) { return faultEntries(r.Faults()), nil }

// postFaults arms one fault given as JSON, or the lines of a plan.
func postFaults(r *controlRequest) (any, error) {
	body, err := readBody(r.Request, maxControlBody)
	if err != nil {
		return nil, err
	}
	text := string(body)
	if looksLikeJSON(body) {
		text = ""
		if err := decodeObject(body, jsonFields{"line": &text}); err != nil {
			return nil, err
		}
	}
	plan, err := parsePlan("line", text)
	if err != nil {
		return nil, err
	}
	if len(plan) == 0 {
		return nil, errors.New(
			`no fault; expected {"line":"drop-reply op=create request=1"} or lines as in a plan`,
		)
	}
	r.arming.Lock()
	defer r.arming.Unlock()
	if armed, err := armPlan(r.Server, plan); err != nil {
		before := ""
		if armed > 0 {
			before = "; the lines before it are armed"
		}
		return nil, failure(http.StatusConflict, "%v%s", err, before)
	}
	list := r.Faults()
	return map[string]any{"armed": faultEntries(list[len(list)-len(plan):])}, nil
}

func deleteFaults(r *controlRequest) (any, error) {
	if err := decodeBody(r.Request, nil); err != nil {
		return nil, err
	}
	r.arming.Lock()
	defer r.arming.Unlock()
	n := len(r.Faults())
	r.ClearFaults()
	return map[string]int{"cleared": n}, nil
}

// getFault waits for a fault to fire. A fault that fires makes a record, so each record that comes
// is a reason to look again.
func getFault(r *controlRequest) (any, error) {
	number, err := strconv.Atoi(r.arg)
	if err != nil || number < 1 {
		return nil, failure(http.StatusBadRequest,
			"fault %q: expected its number, from 1", r.arg)
	}
	for after := r.lastRecord(); ; after = r.lastRecord() {
		status, err := r.fault(number)
		if err != nil || status.Fired {
			return status, err
		}
		if _, err := r.AwaitHistory(r.ctx, after); err != nil {
			return status, r.ending(err)
		}
	}
}

func (r *controlRequest) fault(number int) (faultEntry, error) {
	for _, f := range faultEntries(r.Faults()) {
		if f.Number == number {
			return f, nil
		}
	}
	return faultEntry{}, failure(http.StatusNotFound,
		"no fault %d, or it was cleared; GET /faults lists them", number)
}
