package scenario

// Recording is the scenario with drawn told of each draw of its clients.
func (s Scenario) Recording(drawn func(player, label string, n int)) Scenario {
	s.drawn = drawn
	return s
}
