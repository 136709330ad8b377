package linearizability

import (
	"fmt"
	"slices"
)

// Claims are the promises of an object, and the places of its znodes. Each kind of object has its
// type, in the package of its family: lock.Claims, queue.Claims, value.Counter and so on.
// custom.Object is for an object with your own sequential model, and custom.Anything for one
// without known promises.
type Claims interface {
	// Judge returns the verdicts on a history. Call it by the function [Judge].
	Judge(h History, left *Leftovers) Report
	// Properties lists the properties that Judge may give a verdict on.
	Properties() []string
}

// Judge judges the history of one object by its claims. Calls of a kind that the claims do not name
// are ignored. left is the state some time after the last fault. If it is nil, orphans are not
// judged, and a call that never returned makes liveness [Unknown].
//
// Judge panics if a call breaks the rules of its kind: an input that should be a number and is not,
// or two offers of one element. It also panics if there is a verdict on a property that the claims
// do not list.
func Judge(h History, left *Leftovers, claims Claims) Report {
	report, listed := claims.Judge(h, left), claims.Properties()
	for _, v := range report.Verdicts {
		if !slices.Contains(listed, v.Property) {
			panic(fmt.Sprintf("linearizability: the judge of %T has a verdict on %q, "+
				"and lists %q", claims, v.Property, listed))
		}
	}
	return report
}

// Unjudged returns the properties of the claims on which the report has no verdict. Each is
// [Unknown], with the reason: the server's side or the state at rest is not known.
func Unjudged(h History, report Report, claims Claims) []Verdict {
	withServer := Judge(History{Server: []ServerEvent{}}, nil, claims)
	var list []Verdict
	for _, all := range Judge(History{Server: []ServerEvent{}}, &Leftovers{}, claims).Verdicts {
		if _, judged := report.Verdict(all.Property); judged {
			continue
		}
		why := "the state at rest is not known"
		if _, judged := withServer.Verdict(all.Property); judged && h.Server == nil {
			why = "the server's side is not known"
		}
		list = append(list, Verdict{
			Property: all.Property, Status: Unknown, Summary: "not judged: " + why,
		})
	}
	return list
}
