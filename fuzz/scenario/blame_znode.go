package scenario

import (
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
)

// Maker is the place in the code under test that made the znode to blame for a violation, in one
// line. It is "" if the verdict names no such znode, or if the place is not found. The first call
// runs the scenario once more.
func (o *Outcome) Maker() string {
	if o.maker == nil {
		return ""
	}
	return o.maker()
}

// findMaker is Maker for the first call.
func (o *Outcome) findMaker() string {
	request, ok := o.createOf(o.first().Znode)
	if !ok {
		return ""
	}
	sent, places := o.Scenario.sendersOf(request, creates)
	if len(places) != 1 || sent.Op != request.Op ||
		sent.Path != o.Result.Trace.Rename(request.Path) {
		return "" // with several goroutines it may be any of them, and that run may differ
	}
	return places[0]
}

// createOf is the request that made a znode that is there at rest.
func (o *Outcome) createOf(znode string) (request trace.RequestPoint, ok bool) {
	var made trace.Change
	for _, c := range o.Result.Changes {
		if c.Kind == trace.NodeCreated && c.Path == znode {
			made = c
		}
	}
	for _, r := range o.Result.Requests {
		makes := isCreate(r.Op) && strings.HasPrefix(znode, r.Path) || r.Op == "multi"
		if makes && r.Client == made.Client && r.Step <= made.Step {
			request, ok = r, true
		}
	}
	return request, ok
}

func isCreate(op string) bool { return strings.HasPrefix(op, "create") }

// creates reports whether a goroutine waits for the reply to a request that makes znodes.
func creates(stack string) bool {
	return strings.Contains(stack, "zk.(*Conn).Create") ||
		strings.Contains(stack, "zk.(*Conn).Multi")
}
