package recipes

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// lag is a call on a connection. At some request it moves to a server of a new session that has
// missed the changes before the call.
type lag struct {
	name    string
	prepare func(t *testing.T, writer *testConn) // changes that the server has
	miss    func(t *testing.T, writer *testConn) // changes that it has missed
	call    func(t *testing.T, s *testServer, c *testConn) (string, error)
	want    string
}

// TestNoAnswerIsThatOfALaggingServer: the session ends between the sync and the read.
func TestNoAnswerIsThatOfALaggingServer(t *testing.T) {
	for _, l := range lags {
		for _, op := range []string{"get", "exists", "children", "childrenW"} {
			for nth := 1; nth <= 4; nth++ {
				t.Run(fmt.Sprintf("%s/%s-%d", l.name, op, nth), func(t *testing.T) {
					inBubble(t, func(t *testing.T, s *testServer) { l.play(t, s, op, nth) })
				})
			}
		}
	}
}

func (l lag) play(t *testing.T, s *testServer, op string, nth int) {
	writer, c := s.Connect(), s.Connect()
	l.prepare(t, writer)
	old := s.Copy()
	l.miss(t, writer)
	c.On(op, nth, rule{Before: func() { c.FallBehind(old) }})
	if got, err := l.call(t, s, c); err != nil || got != l.want {
		t.Errorf("%s, %v; want %s", got, err, l.want)
	}
}

func nothing(*testing.T, *testConn) {}

// votedOn begins a transaction of a and b with a deadline in an hour; a has voted.
func votedOn(t *testing.T, c *testConn) {
	p := NewTwoPhaseCommit(c, "/t")
	mustDo(
		t, p.Begin(
			t.Context(), Transaction{
				Sites: []string{"a", "b"}, Deadline: time.Now().Add(time.Hour),
			},
		),
	)
	mustDo(t, p.Vote(t.Context(), "a", true))
	mustClose(t, p)
}

// voteB is the last vote.
func voteB(t *testing.T, c *testConn) {
	p := NewTwoPhaseCommit(c, "/t")
	mustDo(t, p.Vote(t.Context(), "b", true))
	mustClose(t, p)
}

func awaitDecision(t *testing.T, _ *testServer, c *testConn) (string, error) {
	p := NewTwoPhaseCommit(c, "/t", RecheckEvery(time.Second))
	defer mustClose(t, p)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d, err := p.Await(ctx)
	return string(d.encode()), err
}

var lags = []lag{
	{"await a transaction", nothing, func(t *testing.T, c *testConn) {
		votedOn(t, c)
		voteB(t, c)
	}, awaitDecision, "commit"},
	{"await after the deadline", votedOn, func(t *testing.T, c *testConn) {
		voteB(t, c)
		time.Sleep(2 * time.Hour)
	}, awaitDecision, "commit"},
	{"forget", votedOn, func(t *testing.T, c *testConn) {
		voteB(t, c)
		p := NewTwoPhaseCommit(c, "/t")
		if _, err := p.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustDo(t, p.Done(t.Context(), "a"))
		mustDo(t, p.Done(t.Context(), "b"))
		mustClose(t, p)
	}, func(t *testing.T, s *testServer, c *testConn) (string, error) {
		p := NewTwoPhaseCommit(c, "/t")
		defer mustClose(t, p)
		err := p.Forget(t.Context())
		return fmt.Sprint(s.Below("/")), err
	}, "[]"},
	{"add to a counter", nothing, nothing, func(
		t *testing.T, _ *testServer, c *testConn,
	) (string, error) {
		n := NewCounter(c, "/n")
		defer mustClose(t, n)
		c.On("multi", 1, loseRequest)
		c.On("multi", 2, loseReply)
		if _, err := n.Add(t.Context(), 1); err != nil {
			return "", err
		}
		sum, err := n.Get(t.Context())
		return fmt.Sprint(sum), err
	}, "1"},
	{"get a counter", nothing, func(t *testing.T, c *testConn) {
		n := NewCounter(c, "/n")
		if _, err := n.Add(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		mustClose(t, n)
	}, func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		n := NewCounter(c, "/n")
		defer mustClose(t, n)
		sum, err := n.Get(t.Context())
		return fmt.Sprint(sum), err
	}, "1"},
	{"create a sequential node", nothing, nothing, func(
		t *testing.T, s *testServer, c *testConn,
	) (string, error) {
		c.On("create", 1, loseReply)
		_, err := CreateProtected(t.Context(), c, "/", "n-", nil, PersistentSequential)
		return fmt.Sprint(len(s.Below("/"))), err
	}, "1"},
	{"poll a queue", nothing, func(t *testing.T, c *testConn) {
		q := NewQueue(c, "/q")
		mustDo(t, q.Offer(t.Context(), []byte("1")))
		mustClose(t, q)
	}, func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		q := NewQueue(c, "/q")
		defer mustClose(t, q)
		data, _, err := q.Poll(t.Context())
		return string(data), err
	}, "1"},
	{"peek into a priority queue", nothing, func(t *testing.T, c *testConn) {
		q := NewPriorityQueue(c, "/q")
		mustDo(t, q.Offer(t.Context(), []byte("1"), 1))
		mustClose(t, q)
	}, func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		q := NewPriorityQueue(c, "/q")
		defer mustClose(t, q)
		data, _, err := q.Peek(t.Context())
		return string(data), err
	}, "1"},
	{"poll a queue with locks", nothing, func(t *testing.T, c *testConn) {
		q := NewLockQueue(c, "/q")
		mustDo(t, q.Offer(t.Context(), []byte("1")))
		mustClose(t, q)
	}, func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		q := NewLockQueue(c, "/q")
		defer mustClose(t, q)
		d, ok, err := q.Poll(t.Context())
		if !ok {
			return "", err
		}
		return string(d.Data()), d.Ack(t.Context())
	}, "1"},
	{"remove from a queue with ids", nothing, func(t *testing.T, c *testConn) {
		q := NewIDQueue(c, "/q")
		mustDo(t, q.Offer(t.Context(), "id", []byte("1")))
		mustClose(t, q)
	}, func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		q := NewIDQueue(c, "/q")
		defer mustClose(t, q)
		n, err := q.Remove(t.Context(), "id")
		return fmt.Sprint(n), err
	}, "1"},
	{"see who leads", nothing, func(t *testing.T, c *testConn) {
		mustDo(t, EnsurePath(t.Context(), c, "/l"))
		c.Seed("/l/_c_1-latch-0000000000", "a")
	}, func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		l := NewLeaderLatch(c, "/l", "b")
		defer mustClose(t, l)
		leader, _, err := l.Leader(t.Context())
		return leader.ID, err
	}, "a"},
	{"is a barrier closed", nothing, func(t *testing.T, c *testConn) {
		b := NewBarrier(c, "/b")
		mustDo(t, b.Set(t.Context()))
		mustClose(t, b)
	}, func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		b := NewBarrier(c, "/b")
		defer mustClose(t, b)
		set, err := b.IsSet(t.Context())
		return fmt.Sprint(set), err
	}, "true"},
	{"wait at a threshold barrier", func(t *testing.T, c *testConn) {
		b := NewThresholdBarrier(c, "/b")
		mustDo(t, b.Set(t.Context(), 1))
		mustDo(t, b.Wait(t.Context()))
		mustClose(t, b)
	}, func(t *testing.T, c *testConn) {
		b := NewThresholdBarrier(c, "/b")
		mustDo(t, b.Set(t.Context(), 2))
		mustClose(t, b)
	}, func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		b := NewThresholdBarrier(c, "/b", RecheckEvery(time.Second))
		defer mustClose(t, b)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := b.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return "passed", err
		}
		open, err := b.IsOpen(t.Context())
		return fmt.Sprint(open), err
	}, "false"},
	{"ask for a lock", nothing, func(t *testing.T, c *testConn) {
		mustDo(t, EnsurePath(t.Context(), c, "/l"))
		c.Seed("/l/_c_1-lock-0000000000", "")
	}, func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		l := NewRevocableLock(c, "/l")
		defer mustClose(t, l)
		asked, err := l.Revoke(t.Context())
		return fmt.Sprint(asked), err
	}, "true"},
	{"list participants", nothing, func(t *testing.T, c *testConn) {
		mustDo(t, EnsurePath(t.Context(), c, "/l"))
		c.Seed("/l/_c_1-member-0000000000", "")
	}, func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		q := NewTurnQueue(c, "/l")
		defer mustClose(t, q)
		line, err := q.Line(t.Context())
		return fmt.Sprint(len(line)), err
	}, "1"},
}

// TestAVoteInTimeIsSeenByAServerThatLagsBehind when the deadline comes.
func TestAVoteInTimeIsSeenByAServerThatLagsBehind(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		writer, c := s.Connect(), s.Connect()
		votedOn(t, writer)
		decided := awaits(t, NewTwoPhaseCommit(c, "/t", RecheckEvery(0)))
		c.Lag(s.Copy())
		voteB(t, writer)
		wantDecision(t, "commit", decided)
	})
}
