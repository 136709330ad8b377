package bubble

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// handDraws returns the draws of several hands and of two goroutines of each. Hand i
// draws after wait[i].
func handDraws(t *testing.T, wait ...time.Duration) string {
	t.Helper()
	got := make([]string, len(wait))
	if failure := Run(1, func() {
		done := make(chan bool)
		for i := range wait {
			go func() {
				defer func() { done <- true }()
				defer BeHand(string(rune('a'+i)), nil)()
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
		t.Errorf("draws in another order %s, want %s", got, want)
	}
	seen := map[string]bool{}
	for _, d := range strings.FieldsFunc(want, func(r rune) bool { return r == ' ' || r == ';' }) {
		if seen[d] {
			t.Errorf("%s is drawn twice: %s", d, want)
		}
		seen[d] = true
	}
}

func TestHandsHaveNames(t *testing.T) {
	if name, _, ok := Hand(); ok {
		t.Errorf("outside: hand %q", name)
	}
	Run(1, func() {
		if name, _, ok := Hand(); ok {
			t.Errorf("an unregistered goroutine has the name %q", name)
		}
		release := BeHand("a", 7)
		want := []string{"a", "a/", "a/1", "a/1/", "a/1/1", "a/1/1/", "a/1/1/1"}
		if got := handNames(3); !slices.Equal(got, want) {
			t.Errorf("names %q, want %q", got, want)
		}
		if got := handNames(1); !slices.Equal(got, []string{"a", "a/", "a/2"}) {
			t.Errorf("names afterwards %q", got)
		}
		if _, owner, _ := Hand(); owner != 7 {
			t.Errorf("owner %v", owner)
		}
		release()
		if name, _, ok := Hand(); ok {
			t.Errorf("still a hand: %q", name)
		}
	})
}

// TestAHandIsKnownByItsGrandchildren has a goroutine between that has no name.
func TestAHandIsKnownByItsGrandchildren(t *testing.T) {
	Run(1, func() {
		defer BeHand("a", nil)()
		names := make(chan []string)
		go func() { go func() { names <- handNames(0) }() }()
		if got := <-names; !slices.Equal(got, []string{"a/", "a/1"}) {
			t.Errorf("names %q", got)
		}
	})
}

// handNames returns the names of the calling goroutine before and after Introduce, then
// those of a goroutine that it starts, and so on for some generations.
func handNames(generations int) []string {
	name, _, _ := Hand()
	names := []string{name}
	Introduce()
	if after, _, _ := Hand(); after != name {
		names = append(names, after)
	}
	if generations == 0 {
		return names
	}
	started := make(chan []string)
	go func() { started <- handNames(generations - 1) }()
	return append(names, <-started...)
}

// TestAGoroutineOutlivesItsHand shows that a goroutine keeps its name and its draws
// after the hand that started it is released.
func TestAGoroutineOutlivesItsHand(t *testing.T) {
	child := func(before bool) (names []string, drawn string) {
		Run(1, func() {
			begin, done := make(chan bool), make(chan bool)
			release := BeHand("a", 7)
			go func() {
				defer close(done)
				<-begin
				names, drawn = handNames(0), draw(t)
			}()
			if before {
				close(begin)
				<-done
				release()
				return
			}
			release()
			close(begin)
			<-done
		})
		return names, drawn
	}
	names, drawn := child(true)
	if want := []string{"a/", "a/1"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	if later, again := child(false); !slices.Equal(later, names) || again != drawn {
		t.Errorf("%q draws %s after the release, %q draws %s before", later, again, names, drawn)
	}
	if n := activeHands.Load(); n != 0 {
		t.Errorf("%d hands are left after the end of their bubbles", n)
	}
}
