package linearizability

// Claims say what an object promises, and where its znodes are. Each kind of
// object has a type of its own: [Lock], [Queue], [Counter] and so on, [Object] for
// one with a sequential model of yours, and [Anything] for the rest.
type Claims interface {
	judge(h History, rest *Leftovers) Report
}

// Judge judges the history of one object by what it claims. Operations of kinds
// that the claims do not name are ignored. rest is what was there some time after
// the last fault; without it (nil) liveness and orphans are not judged.
func Judge(h History, rest *Leftovers, claims Claims) Report { return claims.judge(h, rest) }
