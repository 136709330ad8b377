package hunt

// WithLegs is the hunt with shorter legs.
func (h Hunt) WithLegs(runs int) Hunt {
	h.legRuns = runs
	return h
}
