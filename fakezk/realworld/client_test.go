package realworld

import (
	"testing"
	"time"
)

// TestAMomentIsTheSameForAllClients of a World, at any time: the order of due elements must not
// depend on the time that a call takes.
func TestAMomentIsTheSameForAllClients(t *testing.T) {
	t.Parallel()
	p := &proxy{clock: &clock{start: time.Now(), pace: 3}}
	due := p.clock.start.Add(2*time.Second + time.Millisecond).Truncate(time.Millisecond)
	want := (&Client{proxy: p}).At(due)
	if want <= 6*time.Second || want > 6*time.Second+3*time.Millisecond {
		t.Errorf("2 s by the clock are %v; want 6 s, at a pace of 3, or up to 3 ms more", want)
	}
	for range 1000 {
		if at := (&Client{proxy: p}).At(due); at != want {
			t.Fatalf("the same moment is %v, and %v to another client", want, at)
		}
	}
}
