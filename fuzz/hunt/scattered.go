package hunt

// scattered draws 0 to n-1, each once, the next far from the last: neighbours in a list of fault
// points mostly have the same effect.
type scattered struct{ n, from, next, step int }

func newScattered(n int, from uint64) *scattered {
	step := max(1, n*382/1000) // near the golden section
	for gcd(step, n) > 1 {
		step++
	}
	return &scattered{n: n, from: int(from % uint64(max(1, n))), step: step}
}

func (s *scattered) draw() (int, bool) {
	if s.next >= s.n {
		return 0, false
	}
	i := int((int64(s.from) + int64(s.next)*int64(s.step)) % int64(s.n))
	s.next++
	return i, true
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
