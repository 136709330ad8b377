package picture

import (
	"cmp"
	"fmt"
	"html"
	"strings"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
)

func (r reader) plan() []planned {
	plan := []planned{}
	for _, f := range r.Faults() {
		p := planned{Fault: f.String(), means: meansOf(f)}
		for _, s := range r.Result.Strikes {
			if s.Fault == f && p.Step == 0 {
				p.Step = s.Step
			}
		}
		plan = append(plan, p)
	}
	return plan
}

// meansOf says in words what a fault does: the meaning of its kind, made to fit the fields of the
// fault.
func meansOf(f fault.Fault) string {
	kind, _ := f.Kind.Info()
	client := ""
	switch {
	case f.Client != "":
		client = f.Client + "'s "
	case f.At > 0:
		client = "each client's "
	}
	connection, server := cmp.Or(client, "the ")+"connection", cmp.Or(client, "the client's ")+"server"
	restarts := "the server restarts: all"
	if n := fmt.Sprintf("server %d", f.Server); f.Server > 0 {
		connection, server, restarts = connection+" to "+n, n, n+" restarts: its"
	}
	message, when, before := "reply", " after the reply", " before the request is applied"
	switch {
	case f.Event > 0:
		message, when = "event", " before the event arrives"
	case f.At > 0:
		when, before = "", ""
	}
	return strings.NewReplacer(
		"the server restarts: all", restarts,
		"the client's server", server,
		"the client's ", cmp.Or(client, "the client's "),
		"the connection", connection,
		"the session", cmp.Or(client, "the ")+"session",
		"reply or event", message,
		"request or event", strings.Replace(message, "reply", "request", 1),
		": after the reply, before the event, or at a time", when,
		" before the request is applied", before,
		"this error, such as NoAuth", "the error "+f.Code,
		" D", " "+f.For.String(),
	).Replace(kind.Meaning)
}

// isRecorded reports whether a run was recorded elsewhere: its clients played no script.
func isRecorded(o *scenario.Outcome) bool { return len(o.Clients()) > o.Scenario.Script.Clients }

// faultsHTML lists the faults of a plan.
func faultsHTML(o *scenario.Outcome, plan []planned) string {
	switch {
	case len(plan) > 0:
	case isRecorded(o):
		return "a recording: which faults there were is not known"
	case o.Property() == "":
		return "none"
	default:
		return "none: it goes wrong without any"
	}
	var list []string
	for _, f := range plan {
		item := fmt.Sprintf(`<a class="step" data-step="%d">%s</a>`, f.Step,
			html.EscapeString(f.Fault)) + " <small>" + html.EscapeString(f.means) + "</small>"
		if f.Step == 0 {
			item += " (never acted)"
		}
		list = append(list, item)
	}
	return strings.Join(list, "<br>")
}
