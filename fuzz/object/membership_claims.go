package object

import (
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/member"
)

func (c MembershipClaims) of(e scenario.Evidence) linearizability.Claims {
	return member.Claims{
		Path: c.Path, Services: c.Services, Instance: c.Instance,
		Within: lag(e.Plan, c.Recheck), AllowedAtRest: c.allowedLeftovers(e),
		Data: c.Rivals || c.Instance != nil, Rivals: c.Rivals, Late: late(e.Plan),
		Hidden: []string{secret}, Replaces: c.Replaces,
	}
}

// allowedLeftovers lists the patterns of znodes that may be left at rest. Among them are the
// services that may be empty, but not yet removed. The leader looks for empty containers once a
// minute, counted from its last start, so that its next look may come after the end.
func (c MembershipClaims) allowedLeftovers(e scenario.Evidence) []string {
	list := append(slices.Clone(c.LeavesAtRest), c.Path+"/"+secret)
	restarts := slices.ContainsFunc(e.Plan, func(f fault.Fault) bool {
		return f.Kind == fault.Restart || f.Kind != fault.Lag && f.Kind.NeedsEnsemble()
	})
	for _, service := range services {
		dir := c.Path + "/" + service
		if restarts || emptied(e.History, dir, e.History.EndTime-untilReaped) {
			list = append(list, dir)
		}
	}
	return list
}

// emptied reports whether a directory lost a child later than after. A late-reap fault may keep an
// instance there for long after its client has left.
func emptied(h linearizability.History, dir string, after time.Duration) bool {
	return slices.ContainsFunc(h.Server, func(ev linearizability.ServerEvent) bool {
		return ev.Kind == linearizability.NodeDeleted && ev.Time > after &&
			strings.HasPrefix(ev.Path, dir+"/")
	})
}

// lag is how long a view may be out of date or a member missing: the length of the faults, of a
// session that each of them ends, and of a recheck. 0 means that the plan is too long and nothing
// is judged.
func lag(plan []fault.Fault, recheck time.Duration) time.Duration {
	d := 2*scenario.SessionTimeout + recheck
	for _, f := range plan {
		d += f.For + scenario.SessionTimeout
	}
	if d >= atRest {
		return 0
	}
	return d
}

// late is how long a request may be on its way.
func late(plan []fault.Fault) time.Duration {
	d := 100 * time.Millisecond
	for _, f := range plan {
		d += f.For
	}
	return d
}
