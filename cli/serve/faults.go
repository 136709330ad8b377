package serve

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"

	"github.com/zksim/zksim/fakezk"
)

type faultEntry struct {
	Number  int    `json:"number"`
	Line    string `json:"line"`
	Matched int    `json:"matched" about:"the requests or notifications that it has selected so far"`
	Fired   bool   `json:"fired"`
}

func faultEntries(list []fakezk.FaultStatus) []faultEntry {
	entries := []faultEntry{}
	for _, f := range list {
		entries = append(entries, faultEntry{f.Number, f.Fault.String(), f.Matched, f.Fired})
	}
	return entries
}

func getFaults(r *request) ([]faultEntry, error) { return faultEntries(r.Faults()), nil }

// faultBody is one fault as JSON.
type faultBody struct {
	Line string `json:"line" about:"as in a plan"`
}

type armedEntry struct {
	Armed []faultEntry `json:"armed"`
}

// postFaults arms one fault given as JSON, or the lines of a plan.
func postFaults(r *request) (armed armedEntry, err error) {
	plan, err := r.plan()
	if err != nil {
		return armed, err
	}
	if len(plan) == 0 {
		return armed, errors.New(
			`no fault; expected {"line":"drop-reply op=create request=1"} or lines as in a plan`,
		)
	}
	r.arming.Lock()
	defer r.arming.Unlock()
	if n, err := armPlan(r.Server, plan); err != nil {
		before := ""
		if n > 0 {
			before = "; the lines before it are armed"
		}
		return armed, failure(http.StatusConflict, "%v%s", err, before)
	}
	list := r.Faults()
	return armedEntry{faultEntries(list[len(list)-len(plan):])}, nil
}

// plan reads the faults of a request.
func (r *request) plan() ([]plannedFault, error) {
	text := string(r.body)
	if bytes.HasPrefix(bytes.TrimSpace(r.body), []byte("{")) {
		var one faultBody
		if err := decodeObject(r.body, &one); err != nil {
			return nil, err
		}
		text = one.Line
	}
	return parsePlan("line", text)
}

type clearedEntry struct {
	Cleared int `json:"cleared" about:"how many there were"`
}

func deleteFaults(r *request) (cleared clearedEntry, err error) {
	if err := r.decode(&struct{}{}); err != nil {
		return cleared, err
	}
	r.arming.Lock()
	defer r.arming.Unlock()
	cleared.Cleared = len(r.Faults())
	r.ClearFaults()
	return cleared, nil
}

// getFault waits for a fault to fire. A fault that fires makes a record, so each record that comes
// is a reason to look again.
func getFault(r *request) (faultEntry, error) {
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || number < 1 {
		return faultEntry{}, failure(http.StatusBadRequest,
			"fault %q: expected its number, from 1", r.PathValue("number"))
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

func (r *request) fault(number int) (faultEntry, error) {
	for _, f := range faultEntries(r.Faults()) {
		if f.Number == number {
			return f, nil
		}
	}
	return faultEntry{}, failure(http.StatusNotFound,
		"no fault %d, or it was cleared; GET /faults lists them", number)
}
