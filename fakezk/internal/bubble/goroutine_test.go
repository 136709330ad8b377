package bubble

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
)

// goroutineDraws returns the draws of several registered goroutines and of two goroutines that each
// starts. Goroutine i draws after wait[i].
func goroutineDraws(t *testing.T, wait ...time.Duration) string {
	t.Helper()
	got := make([]string, len(wait))
	if failure := Run(1, func() {
		done := make(chan bool)
		for i := range wait {
			go func() {
				defer func() { done <- true }()
				defer Register(string(rune('a'+i)), nil)()
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

func TestDrawsOfAGoroutineDoNotDependOnOthers(t *testing.T) {
	want := goroutineDraws(t, 1, 2)
	check.Equal(t, goroutineDraws(t, 2, 1), want, "draws in another order")
	seen := map[string]bool{}
	for _, d := range strings.FieldsFunc(want, func(r rune) bool { return r == ' ' || r == ';' }) {
		if seen[d] {
			t.Errorf("%s is drawn twice: %s", d, want)
		}
		seen[d] = true
	}
}

func TestRegisteredGoroutinesHaveNames(t *testing.T) {
	if name, _, ok := Registered(); ok {
		t.Errorf("outside: %q", name)
	}
	Run(1, func() {
		if name, _, ok := Registered(); ok {
			t.Errorf("an unregistered goroutine has the name %q", name)
		}
		release := Register("a", 7)
		want := []string{"a", "a/", "a/1", "a/1/", "a/1/1", "a/1/1/", "a/1/1/1"}
		check.List(t, goroutineNames(3), want, "names")
		check.List(t, goroutineNames(1), []string{"a", "a/", "a/2"}, "names afterwards")
		if _, owner, _ := Registered(); owner != 7 {
			t.Errorf("owner %v", owner)
		}
		release()
		if name, _, ok := Registered(); ok {
			t.Errorf("still registered: %q", name)
		}
	})
}

// TestAGoroutineIsKnownByItsGrandchildren, with a goroutine without a name between them.
func TestAGoroutineIsKnownByItsGrandchildren(t *testing.T) {
	Run(1, func() {
		defer Register("a", nil)()
		names := make(chan []string)
		go func() { go func() { names <- goroutineNames(0) }() }()
		check.List(t, <-names, []string{"a/", "a/1"}, "names")
	})
}

// goroutineNames returns the names of the calling goroutine before and after Introduce, then
// those of a goroutine that it starts, and so on for some generations.
func goroutineNames(generations int) []string {
	name, _, _ := Registered()
	names := []string{name}
	Introduce()
	if after, _, _ := Registered(); after != name {
		names = append(names, after)
	}
	if generations == 0 {
		return names
	}
	started := make(chan []string)
	go func() { started <- goroutineNames(generations - 1) }()
	return append(names, <-started...)
}

// TestAGoroutineOutlivesItsParent shows that a goroutine keeps its name and its draws after its
// parent is released.
func TestAGoroutineOutlivesItsParent(t *testing.T) {
	child := func(before bool) (names []string, drawn string) {
		Run(1, func() {
			begin, done := make(chan bool), make(chan bool)
			release := Register("a", 7)
			go func() {
				defer close(done)
				<-begin
				names, drawn = goroutineNames(0), draw(t)
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
	check.List(t, names, []string{"a/", "a/1"}, "names")
	if later, again := child(false); !slices.Equal(later, names) || again != drawn {
		t.Errorf("%q draws %s after the release, %q draws %s before", later, again, names, drawn)
	}
	check.Equal(t, activeGoroutines.Load(), 0, "goroutines after the end of their bubbles")
}
