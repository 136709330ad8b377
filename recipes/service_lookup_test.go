package recipes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
)

// instancesOf makes instances called by the letters.
func instancesOf(ids string) []Instance {
	var list []Instance
	for _, id := range ids {
		list = append(list, Instance{Service: "web", ID: string(id)})
	}
	return list
}

func TestStrategies(t *testing.T) {
	third := func(n int) int { return min(2, n-1) }
	for _, tt := range []struct {
		name     string
		strategy Strategy
		given    string // instances, choice after choice
		want     string
	}{
		{"random", Random(third), "abc abcd ab a", "c c b a"},
		{"round robin", RoundRobin(), "abc abc abc abc", "a b c a"},
		{
			"round robin goes on where one has gone", RoundRobin(), "abc abc acd acd acd",
			"a b c d a",
		},
		{"round robin and newcomers", RoundRobin(), "bd abd abcd abcd abcd", "b d a b c"},
		{"sticky", Sticky(RoundRobin()), "abc abc abc", "a a a"},
		{"sticky until it is gone", Sticky(Random(third)), "abc abcd abd abd abcd", "c c d d d"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, ids := range strings.Fields(tt.given) {
				chosen := tt.strategy.Choose(instancesOf(ids)).ID
				check.Contains(t, ids, chosen, "one of the ids")
				got = append(got, chosen)
			}
			check.Equal(t, strings.Join(got, " "), tt.want, "chosen %v", got)
		})
	}
}

func TestLookupFollowsTheRegistry(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		v := NewServiceRegistry(s.Connect(), "/s")
		l := NewServiceLookup(v, "web", Sticky(RoundRobin()))
		check.Is(t, errOf(l.Next(t.Context())), ErrNoInstance)
		a, b := register(t, c, "web", "a", "1"), register(t, c, "web", "b", "1")
		next := func(want string) {
			t.Helper()
			time.Sleep(time.Second)
			if i, err := l.Next(t.Context()); err != nil || i.ID+string(i.Data) != want {
				t.Errorf("Next: %s %s, %v; want %s", i.ID, i.Data, err, want)
			}
		}
		next("a1")
		mustDo(t, a.Update(t.Context(), []byte("2")))
		next("a2")
		mustClose(t, a)
		next("b1")
		mustClose(t, b, v)
		check.Is(t, errOf(l.Next(t.Context())), ErrClosed)
	})
}

// TestLookupPassesOverWhatCouldNotBeReached for the given time, until it is registered anew, and
// unless no other instance is left.
func TestLookupPassesOverWhatCouldNotBeReached(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		one, two := s.Connect(), s.Connect()
		v := NewServiceRegistry(s.Connect(), "/s", RecheckEvery(0))
		l := NewServiceLookup(v, "web", RoundRobin())
		a, b := register(t, one, "web", "a", "1"), register(t, two, "web", "b", "1")
		next := func(want string) (last Instance) {
			t.Helper()
			time.Sleep(time.Second)
			for _, id := range want {
				i, err := l.Next(t.Context())
				if err != nil || i.ID != string(id) {
					t.Errorf("Next: %s, %v; want %c of %s", i.ID, err, id, want)
				}
				last = i
			}
			return last
		}
		bad := next("aba")
		l.NoteError(bad, 30*time.Second)
		next("bbb")
		time.Sleep(30 * time.Second)
		next("aba")
		l.NoteError(bad, time.Hour)
		l.NoteError(bad, 0) // it was a mistake
		next("bab")
		l.NoteError(bad, time.Hour)
		two.Expire()
		last := next("b")
		l.NoteError(last, time.Hour)
		next("aba") // all are avoided: better try than give up
		one.Expire()
		next("aaa") // it has come back
		mustClose(t, b)
		next("aaa")
		check.Equal(t, l.Avoided(), 0, "remembered although they are gone")
		mustClose(t, a, v)
	})
}
