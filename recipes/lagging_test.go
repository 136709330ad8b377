package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
	"github.com/zksim/zksim/recipes/internal/request"
)

// lag is a call on a connection. At some request it moves to a server of a new session that has
// missed the changes before the call.
type lag struct {
	name    string
	prepare func(t *testing.T, c *testConn) // changes that the server has; may be nil
	miss    func(t *testing.T, c *testConn) // changes that it has missed; may be nil
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
	if l.prepare != nil {
		l.prepare(t, writer)
	}
	old := s.Copy()
	if l.miss != nil {
		l.miss(t, writer)
	}
	c.On(op, nth, rule{Before: func() { c.FallBehind(old) }})
	if got, err := l.call(t, s, c); err != nil || got != l.want {
		t.Errorf("%s, %v; want %s", got, err, l.want)
	}
	writer.Close() // ends what the recipes leave running
	c.Close()
}

// votedOn begins a transaction of a and b with a deadline in an hour; a has voted.
func votedOn(t *testing.T, c *testConn) {
	p := NewTwoPhaseCommit(c, "/t")
	tx := Transaction{Sites: []string{"a", "b"}, Deadline: time.Now().Add(time.Hour)}
	mustDo(t, p.Begin(t.Context(), tx))
	mustDo(t, p.Vote(t.Context(), "a", true))
}

// voteB is the last vote.
func voteB(t *testing.T, c *testConn) {
	mustDo(t, NewTwoPhaseCommit(c, "/t").Vote(t.Context(), "b", true))
}

func awaitDecision(t *testing.T, _ *testServer, c *testConn) (string, error) {
	p := NewTwoPhaseCommit(c, "/t", RecheckEvery(time.Second))
	d, err := p.Await(within(t, time.Minute))
	return decisionText(d), err
}

// ephemeral makes an ephemeral node.
func ephemeral(dir, name string) func(t *testing.T, c *testConn) {
	return func(t *testing.T, c *testConn) {
		mustDo(t, EnsurePath(t.Context(), c, dir))
		c.Seed(request.Join(dir, name), "a")
	}
}

var lags = []lag{
	{name: "await a transaction", miss: func(t *testing.T, c *testConn) {
		votedOn(t, c)
		voteB(t, c)
	}, call: awaitDecision, want: "commit"},
	{name: "await after the deadline", prepare: votedOn, miss: func(t *testing.T, c *testConn) {
		voteB(t, c)
		time.Sleep(2 * time.Hour)
	}, call: awaitDecision, want: "commit"},
	{name: "forget", prepare: votedOn, miss: func(t *testing.T, c *testConn) {
		voteB(t, c)
		p := NewTwoPhaseCommit(c, "/t")
		_, err := p.Await(t.Context())
		mustDo(t, errors.Join(err, p.Done(t.Context(), "a"), p.Done(t.Context(), "b")))
	}, call: func(t *testing.T, s *testServer, c *testConn) (string, error) {
		err := NewTwoPhaseCommit(c, "/t").Forget(t.Context())
		return fmt.Sprint(s.Below("/")), err
	}, want: "[]"},
	{name: "add to a counter", call: func(
		t *testing.T, _ *testServer, c *testConn,
	) (string, error) {
		n := NewCounter(c, "/n")
		c.On("multi", 1, loseRequest)
		c.On("multi", 2, loseReply)
		if _, err := n.Add(t.Context(), 1); err != nil {
			return "", err
		}
		return text(n.Get(t.Context()))
	}, want: "1"},
	{name: "get a counter", miss: func(t *testing.T, c *testConn) {
		wantAdd(t, NewCounter(c, "/n"), 1, 1)
	}, call: func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		return text(NewCounter(c, "/n").Get(t.Context()))
	}, want: "1"},
	{name: "create a sequential node", call: func(
		t *testing.T, s *testServer, c *testConn,
	) (string, error) {
		c.On("create", 1, loseReply)
		_, err := CreateProtected(t.Context(), c, "/", "n-", nil, PersistentSequential)
		return fmt.Sprint(len(s.Below("/"))), err
	}, want: "1"},
	{name: "poll a queue", miss: func(t *testing.T, c *testConn) {
		mustOffer(t, NewQueue(c, "/q"), "1")
	}, call: func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		return text2(NewQueue(c, "/q").Poll(t.Context()))
	}, want: "1 true"},
	{name: "peek into a priority queue", miss: func(t *testing.T, c *testConn) {
		mustPrioritize(t, NewPriorityQueue(c, "/q"), "1", 1)
	}, call: func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		return text2(NewPriorityQueue(c, "/q").Peek(t.Context()))
	}, want: "1 true"},
	{name: "poll a queue with locks", miss: func(t *testing.T, c *testConn) {
		lockQueueOf(t, c, "1")
	}, call: func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		d, ok, err := NewLockQueue(c, "/q").Poll(t.Context())
		if !ok {
			return "", err
		}
		return string(d.Data()), d.Ack(t.Context())
	}, want: "1"},
	{name: "remove from a queue with ids", miss: func(t *testing.T, c *testConn) {
		mustOfferID(t, NewIDQueue(c, "/q"), "id", "1")
	}, call: func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		return text(NewIDQueue(c, "/q").Remove(t.Context(), "id"))
	}, want: "1"},
	{name: "see who leads", miss: ephemeral("/l", "_c_1-latch-0000000000"), call: func(
		t *testing.T, _ *testServer, c *testConn,
	) (string, error) {
		leader, _, err := NewLeaderLatch(c, "/l", "b").Leader(t.Context())
		return leader.ID, err
	}, want: "a"},
	{name: "is a barrier closed", miss: func(t *testing.T, c *testConn) {
		mustDo(t, NewBarrier(c, "/b").Set(t.Context()))
	}, call: func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		return text(NewBarrier(c, "/b").IsSet(t.Context()))
	}, want: "true"},
	{name: "wait at a threshold barrier", prepare: func(t *testing.T, c *testConn) {
		b := NewThresholdBarrier(c, "/b")
		mustSet(t, b, 1)
		mustDo(t, b.Wait(t.Context()))
	}, miss: func(t *testing.T, c *testConn) {
		mustSet(t, NewThresholdBarrier(c, "/b"), 2)
	}, call: func(t *testing.T, _ *testServer, c *testConn) (string, error) {
		b := NewThresholdBarrier(c, "/b", RecheckEvery(time.Second))
		if err := b.Wait(within(t, time.Minute)); !errors.Is(err, context.DeadlineExceeded) {
			return "passed", err
		}
		return text(b.IsOpen(t.Context()))
	}, want: "false"},
	{name: "ask for a lock", miss: ephemeral("/l", "_c_1-lock-0000000000"), call: func(
		t *testing.T, _ *testServer, c *testConn,
	) (string, error) {
		return text(NewRevocableLock(c, "/l").Revoke(t.Context()))
	}, want: "true"},
	{name: "list participants", miss: ephemeral("/l", "_c_1-member-0000000000"), call: func(
		t *testing.T, _ *testServer, c *testConn,
	) (string, error) {
		line, err := classic.NewTurnQueue(c, "/l").Line(t.Context())
		return fmt.Sprint(len(line)), err
	}, want: "1"},
}

// TestAVoteInTimeIsSeenByAServerThatLagsBehind when the deadline comes.
func TestAVoteInTimeIsSeenByAServerThatLagsBehind(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		writer := s.Connect()
		votedOn(t, writer)
		decided := awaits(t, NewTwoPhaseCommit(c, "/t", RecheckEvery(0)))
		c.Lag(s.Copy())
		voteB(t, writer)
		wantDecision(t, "commit", decided)
	})
}
