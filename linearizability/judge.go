package linearizability

// Claims say what an object promises, and where its znodes are. Each kind of object has a type of
// its own: [Lock], [Queue], [Counter] and so on. [Object] is for an object with a sequential model
// of yours, and [Anything] for one of which nothing is known.
type Claims interface {
	judge(h History, left *Leftovers) Report
}

// Judge judges the history of one object by its claims. Calls of a kind that the claims do not name
// are ignored. left is what was there some time after the last fault; if it is nil, orphans are not
// judged, and a call that never returned makes liveness [Unknown].
//
// Judge panics if a call breaks the rules of its kind: an input that should be a number and is not,
// or two offers of one element.
func Judge(h History, left *Leftovers, claims Claims) Report { return claims.judge(h, left) }
