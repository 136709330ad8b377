package testrun

// Choices goes through all sequences of choices that a program offers, the last choice first. The
// zero value is at the first sequence.
type Choices struct {
	picked, ways []int
	at           int
}

// Choose picks one of a number of ways.
func (c *Choices) Choose(ways int) int {
	if c.at == len(c.picked) {
		c.picked, c.ways = append(c.picked, 0), append(c.ways, 0)
	}
	c.ways[c.at] = ways
	c.at++
	return c.picked[c.at-1]
}

// Next turns to the next sequence, and reports whether there is one.
func (c *Choices) Next() bool {
	last := len(c.picked) - 1
	for last >= 0 && c.picked[last] == c.ways[last]-1 {
		last--
	}
	c.picked, c.ways, c.at = c.picked[:last+1], c.ways[:last+1], 0
	if last >= 0 {
		c.picked[last]++
	}
	return last >= 0
}
