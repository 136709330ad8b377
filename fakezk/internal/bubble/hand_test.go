package bubble

import (
	"strings"
	"testing"
	"time"
)

// handDraws are the draws of two hands and of two goroutines of each, which wait as
// long as they are told to.
func handDraws(t *testing.T, wait ...time.Duration) string {
	t.Helper()
	got := make([]string, len(wait))
	if failure := Run(1, func() {
		done := make(chan bool)
		for i := range wait {
			go func() {
				defer func() { done <- true }()
				defer BeHand(string(rune('a'+i)), i)()
				time.Sleep(wait[i])
				got[i] = draw(t)
				for range 2 {
					child := make(chan string)
					go func() { child <- draw(t) }()
					got[i] += " " + <-child
				}
			}()
		}
		for range wait {
			<-done
		}
	}); failure != nil {
		t.Fatal(failure)
	}
	return strings.Join(got, "; ")
}

func TestDrawsOfAHandDoNotDependOnOthers(t *testing.T) {
	want := handDraws(t, 1, 2)
	if got := handDraws(t, 2, 1); got != want {
		t.Errorf("in another order %s, before %s", got, want)
	}
	seen := map[string]bool{}
	for _, d := range strings.FieldsFunc(want, func(r rune) bool { return r == ' ' || r == ';' }) {
		if seen[d] {
			t.Errorf("%s is drawn twice: %s", d, want)
		}
		seen[d] = true
	}
}

func TestHandsAreNumbered(t *testing.T) {
	if n, _, ok := Hand(); ok || Newcomer() {
		t.Errorf("outside: hand %d", n)
	}
	Run(1, func() {
		if _, _, ok := Hand(); ok {
			t.Error("a goroutine that is no hand has a number")
		}
		release := BeHand("a", 3)
		own, _, _ := Hand()
		child := make(chan int)
		go func() {
			fresh := Newcomer()
			n, _, _ := Hand()
			if !fresh || Newcomer() {
				t.Error("a goroutine is asked about the first time, once")
			}
			child <- n
		}()
		if n := <-child; own != 3 || n == own {
			t.Errorf("hand %d, its goroutine %d", own, n)
		}
		release()
		if _, _, ok := Hand(); ok {
			t.Error("still a hand")
		}
	})
}
