package classic

import (
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// wantLine checks the members of the line.
func wantLine(t *testing.T, q *TurnQueue, want ...string) []recipes.Member {
	t.Helper()
	line, err := q.Line(t.Context())
	if err != nil || len(line) != len(want) {
		t.Fatalf("Line: %v %v, want %v", line, err, want)
	}
	for i, m := range line {
		check.Equal(t, string(m.Data), want[i], "member %d is %s", i, m.Data)
	}
	return line
}

func TestMembersTakeTurns(t *testing.T) {
	testconn.InBubble(t, func(t *testing.T, s *testServer) {
		s.NumberFrom(-2)
		conns := map[string]*testConn{}
		members := map[string]*TurnQueue{}
		turns := make(chan string, 3)
		for _, name := range []string{"a", "b", "c"} {
			conns[name] = s.Connect()
			q := NewTurnQueue(conns[name], "/turns", recipes.Data([]byte(name)))
			members[name] = q
			if name == "a" {
				wantLine(t, q)
			}
			go func() {
				mustDo(t, q.Lock(t.Context()))
				turns <- name
			}()
			time.Sleep(time.Second)
		}
		check.Equal(t, <-turns, "a", "first")
		line := wantLine(t, members["c"], "a", "b", "c")
		if a := members["a"]; line[0].Path != a.Path() || line[0].Token != a.Token() ||
			line[0].Session != conns["a"].SessionID() {
			t.Errorf("%+v is not a", line[0])
		}
		conns["b"].Expire() // loses its place
		time.Sleep(time.Minute)
		wantLine(t, members["a"], "a", "c", "b")
		for i, name := range []string{"a", "c", "b"} {
			if i > 0 {
				check.Equal(t, <-turns, name, "turn")
			}
			mustDo(t, members[name].Unlock(t.Context()))
		}
		for _, q := range members {
			testconn.MustClose(t, q)
			check.Is(t, testconn.ErrOf(q.Line(t.Context())), recipes.ErrClosed)
		}
		s.WantBelow(t, "/turns", 0)
	})
}

func TestLineLeavesOutWhoHasLeft(t *testing.T) {
	testconn.Alone(t, func(t *testing.T, s *testServer, c *testConn) {
		a, b := NewTurnQueue(s.Connect(), "/turns", recipes.Data([]byte("a"))),
			NewTurnQueue(c, "/turns", recipes.Data([]byte("b")))
		mustDo(t, a.Lock(t.Context()))
		c.On("children", 1, rule{After: func() {
			mustDo(t, a.Unlock(t.Context()))
		}})
		wantLine(t, b)
		testconn.MustClose(t, a, b)
	})
}
