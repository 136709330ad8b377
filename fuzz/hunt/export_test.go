package hunt

// SameRuns lists the faults whose runs go like that of an outcome.
var SameRuns = sameRuns

// WithLegs is the hunt with shorter legs.
func (h Hunt) WithLegs(runs int) Hunt {
	h.legRuns = runs
	return h
}

// MinimizeWithin is Minimize with so many tries at most.
var MinimizeWithin = minimize

// PointsWithin bounds the points of a sweep, and FewerPoints leaves some out.
var (
	PointsWithin = pointsWithin
	FewerPoints  = fewerPoints
)
