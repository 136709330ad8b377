package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/testconn"
)

// parties makes n handles of one transaction, each with its own connection. The first has begun it,
// with sites a, b, ... and a deadline in an hour.
func parties(t *testing.T, s *testServer, n int) (handles []*TwoPhaseCommit, conns []*testConn) {
	t.Helper()
	tx := Transaction{Deadline: time.Now().Add(time.Hour), Data: []byte("x=1")}
	for i := range n {
		tx.Sites = append(tx.Sites, string(rune('a'+i)))
		c := s.Connect()
		handles, conns = append(handles, NewTwoPhaseCommit(c, "/tx/1", RecheckEvery(0))),
			append(conns, c)
	}
	mustDo(t, handles[0].Begin(t.Context(), tx))
	return handles, conns
}

// awaits waits for a decision in the background, and returns it as text.
func awaits(t *testing.T, c *TwoPhaseCommit) chan string {
	text := make(chan string, 1)
	go func() {
		d, err := c.Await(t.Context())
		text <- fmt.Sprint(strings.TrimSpace(string(d.encode())), " ", err)
	}()
	letSettle()
	return text
}

func wantDecision(t *testing.T, want string, from ...chan string) {
	t.Helper()
	for i, text := range from {
		if got := <-text; got != want+" <nil>" {
			t.Errorf("%d: got %s, want %s", i, got, want)
		}
	}
}

func TestCommitWhenAllHaveVotedYes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p, _ := parties(t, s, 2)
		tx, err := p[1].Read(t.Context())
		if err != nil || fmt.Sprint(tx.Sites) != "[a b]" || string(tx.Data) != "x=1" ||
			!tx.Deadline.Equal(time.Now().Truncate(time.Second).Add(time.Hour)) {
			t.Errorf("read %+v %v", tx, err)
		}
		a, b := awaits(t, p[0]), awaits(t, p[1])
		mustDo(t, p[0].Vote(t.Context(), "a", true))
		wantError(t, p[0].Done(t.Context(), "a"), ErrUndecided)
		wantError(t, p[0].Forget(t.Context()), ErrUndecided)
		mustDo(t, p[1].Vote(t.Context(), "b", true))
		wantDecision(t, "commit", a, b, awaits(t, p[0]))
		mustDo(t, p[0].Vote(t.Context(), "a", true)) // again
		wantFailure(t, p[0].Vote(t.Context(), "a", false), ErrVoted, NotApplied)
		mustDo(t, p[0].Done(t.Context(), "a"))
		if err := p[0].Forget(t.Context()); !errors.Is(err, ErrUnfinished) ||
			!strings.HasSuffix(err.Error(), ": b") {
			t.Errorf("forgotten before all have finished: %v", err)
		}
		mustDo(t, p[1].Done(t.Context(), "b"))
		mustDo(t, p[1].Forget(t.Context()))
		mustDo(t, p[0].Forget(t.Context())) // there is none
		mustDo(t, p[0].Done(t.Context(), "a"))
		s.WantBelow(t, "/tx", 0)
		if got := <-awaits(t, p[0]); !strings.Contains(
			got, "await decision of transaction /tx/1: there is no such transaction",
		) {
			t.Error(got)
		}
		wantFailure(t, p[0].Vote(t.Context(), "a", true), ErrNoTransaction, NotApplied)
		mustCloseAll(t, p)
	})
}

func TestAbortAtOnceWhenOneVotesNo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p, _ := parties(t, s, 3)
		a := awaits(t, p[0])
		mustDo(t, p[1].Vote(t.Context(), "b", false))
		wantDecision(t, "abort b votes no", a, awaits(t, p[1]))
		mustDo(t, p[2].Vote(t.Context(), "c", true)) // late
		mustDo(t, p[0].Forget(t.Context()))          // to a late site it counts as aborted
		s.WantBelow(t, "/tx", 0)
	})
}

// TestAbortAtTheDeadlineOfWhoeverWaits: without the coordinator, too, and not before.
func TestAbortAtTheDeadlineOfWhoeverWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p, c := parties(t, s, 3)
		mustDo(t, p[1].Vote(t.Context(), "b", true))
		c[0].Close()
		b, late := awaits(t, p[1]), NewTwoPhaseCommit(s.Connect(), "/tx/1") // with rechecks
		l := awaits(t, late)
		time.Sleep(59 * time.Minute)
		if len(b)+len(l) > 0 {
			t.Error("aborted before the deadline")
		}
		wantDecision(t, "abort no vote in time of a, c", b, l)
		mustDo(t, p[2].Vote(t.Context(), "c", true))
		wantDecision(t, "abort no vote in time of a, c", awaits(t, p[2]))
	})
}

func TestASiteThatHasGoneIsNotWaitedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p, c := parties(t, s, 3)
		mustDo(t, p[1].Join(t.Context(), "b"))
		mustDo(t, p[2].Join(t.Context(), "c"))
		a := awaits(t, p[0])
		mustDo(t, p[1].Vote(t.Context(), "b", true))
		mustClose(t, p[1]) // it has voted
		c[2].ExpireLate(testconn.Stays)
		mustDo(t, p[2].Join(t.Context(), "c")) // in the place of its former self
		mustDo(t, p[2].Join(t.Context(), "c"))
		if len(a) > 0 {
			t.Error("aborted beside sites that were there")
		}
		c[2].Expire()
		wantDecision(t, "abort c has gone before it voted", a)
		mustDo(t, p[0].Forget(t.Context()))
		mustClose(t, p[2])
		s.WantBelow(t, "/tx", 0)
	})
}

func TestWithoutDeadlineNobodyIsHurried(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p := NewTwoPhaseCommit(s.Connect(), "/t")
		mustDo(t, p.Begin(t.Context(), Transaction{Sites: []string{"a"}}))
		a := awaits(t, p)
		time.Sleep(100 * time.Hour)
		mustDo(t, p.Vote(t.Context(), "a", true))
		wantDecision(t, "commit", a)
	})
}

// TestABegunTransactionIsNotBegunAgain: the reply is lost, and the transaction is over before Begin
// can look.
func TestABegunTransactionIsNotBegunAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/tx", "")
		conn := s.Connect()
		c, site := NewTwoPhaseCommit(conn, "/tx/1"), NewTwoPhaseCommit(s.Connect(), "/tx/1")
		fault := loseReply
		fault.After = func() {
			mustDo(t, site.Vote(t.Context(), "a", false))
			wantDecision(t, "abort a votes no", awaits(t, site))
			mustDo(t, site.Forget(t.Context()))
		}
		conn.On("multi", 1, fault)
		mustDo(t, c.Begin(t.Context(), Transaction{Sites: []string{"a"}}))
		s.WantBelow(t, "/tx", 0)
	})
}

func TestTwoCoordinators(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p, _ := parties(t, s, 2)
		err := p[1].Begin(t.Context(), Transaction{Sites: []string{"b"}})
		if !errors.Is(err, ErrTransactionExists) || OutcomeOf(err) != NotApplied {
			t.Error(err)
		}
		s.WantBelow(t, "/tx", 1) // and no record
	})
}

// TestDecisionsThatRace: both learn the decision that was first.
func TestDecisionsThatRace(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p, c := parties(t, s, 2)
		mustDo(t, p[0].Vote(t.Context(), "a", true))
		mustDo(t, p[1].Vote(t.Context(), "b", true))
		c[0].On("multi", 1, rule{Before: func() { s.Seed("/tx/1/decision", "abort by others") }})
		wantDecision(t, "abort by others", awaits(t, p[0]), awaits(t, p[1]))
	})
}

// TestAVoteThatIsTakenBackIsNotCounted: clients should not delete votes, but can.
func TestAVoteThatIsTakenBackIsNotCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p, c := parties(t, s, 2)
		mustDo(t, p[0].Vote(t.Context(), "a", true))
		mustDo(t, p[1].Vote(t.Context(), "b", true))
		c[0].On("multi", 1, rule{Before: func() { mustDo(t, c[1].Delete("/tx/1/vote-b", 0)) }})
		a := awaits(t, p[0])
		if len(a) > 0 {
			t.Error("decided without b")
		}
		c[0].On("get", 1, rule{Before: func() { mustDo(t, c[1].Delete("/tx/1/vote-b", 0)) }})
		mustDo(t, p[1].Vote(t.Context(), "b", true))
		time.Sleep(time.Second)
		mustDo(t, p[1].Vote(t.Context(), "b", true))
		wantDecision(t, "commit", a)
	})
}

func TestForgottenWhileSomebodyWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p, c := parties(t, s, 2)
		c[0].On("childrenW", 1, rule{Before: func() {
			mustDo(t, p[1].Vote(t.Context(), "b", false))
			wantDecision(t, "abort b votes no", awaits(t, p[1]))
			mustDo(t, p[1].Forget(t.Context()))
		}})
		if got := <-awaits(t, p[0]); !strings.Contains(got, ErrNoTransaction.Error()) {
			t.Error(got)
		}
	})
}

// TestForgetBesideALateVote: all nodes are deleted at once, or listed again.
func TestForgetBesideALateVote(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p, c := parties(t, s, 2)
		mustDo(t, p[1].Vote(t.Context(), "b", false))
		wantDecision(t, "abort b votes no", awaits(t, p[1]))
		c[1].On("multi", 1, rule{Before: func() { mustDo(t, p[0].Vote(t.Context(), "a", true)) }})
		mustDo(t, p[1].Forget(t.Context()))
		s.WantBelow(t, "/tx", 0)
	})
}

func TestForgetRefusesWhatIsNotItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p, _ := parties(t, s, 1)
		mustDo(t, p[0].Vote(t.Context(), "a", false))
		wantDecision(t, "abort a votes no", awaits(t, p[0]))
		s.Seed("/tx/1/notes", "")
		s.Seed("/tx/1/notes/1", "")
		wantFailure(t, p[0].Forget(t.Context()), zk.ErrNotEmpty, NotApplied)
	})
}

// badTransaction is the error of a call and its expected text.
type badTransaction struct {
	want string
	err  error
}

// badTransactions makes calls that must fail on the nodes of TestBadTransactions.
func badTransactions(ctx context.Context, conn Conn) []badTransaction {
	await := func(path string) error {
		_, err := NewTwoPhaseCommit(conn, path).Await(ctx)
		return err
	}
	begin := func(tx Transaction) error { return NewTwoPhaseCommit(conn, "/t").Begin(ctx, tx) }
	return []badTransaction{
		{
			`await decision of transaction /empty: the data is ""; expected a transaction`,
			await("/empty"),
		},
		{
			`/array: the data is "[]"; expected a transaction with sites as JSON`,
			await("/array"),
		},
		{`/nobody: the data is "{\"sites\":[]}"; expected`, await("/nobody")},
		{`/voted: the vote of a is "maybe"; expected yes or no`, await("/voted")},
		{`/decided: the decision is "later"; expected commit or abort`, await("/decided")},
		{`begin transaction /t: no sites; expected one at least`, begin(Transaction{})},
		{
			`site "a/b": expected the name of one node`,
			begin(Transaction{Sites: []string{"a/b"}}),
		},
		{`site "a": named twice`, begin(Transaction{Sites: []string{"a", "b", "a"}})},
		{
			`encode transaction: `,
			begin(Transaction{
				Sites: []string{"a"}, Deadline: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
			}),
		},
		{
			`vote in transaction /voted: not a site of the transaction: "z" is none of a`,
			NewTwoPhaseCommit(conn, "/voted").Vote(ctx, "z", true),
		},
		{
			`join transaction /voted: not a site of the transaction`,
			NewTwoPhaseCommit(conn, "/voted").Join(ctx, "z"),
		},
		{
			`finish transaction /voted: not a site of the transaction`,
			NewTwoPhaseCommit(conn, "/voted").Done(ctx, "z"),
		},
		{
			`join transaction /none: there is no such transaction`,
			NewTwoPhaseCommit(conn, "/none").Join(ctx, "a"),
		},
		{
			`forget transaction /empty: the data is ""; expected a transaction with sites as JSON`,
			NewTwoPhaseCommit(conn, "/empty").Forget(ctx),
		},
	}
}

func TestBadTransactions(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		for name, data := range map[string]string{
			"empty": "", "array": "[]", "nobody": `{"sites":[]}`,
		} {
			s.Seed("/"+name, data)
		}
		s.Seed("/voted", `{"sites":["a"]}`)
		s.Seed("/voted/vote-a", "maybe")
		s.Seed("/decided", `{"sites":["a"]}`)
		s.Seed("/decided/decision", "later")
		for _, tc := range badTransactions(t.Context(), s.Connect()) {
			if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) ||
				OutcomeOf(tc.err) != NotApplied {
				t.Errorf("got %v, want %s", tc.err, tc.want)
			}
		}
	})
}

// TestErrorsOfATransactionSayWhatIsKnown: a caller that leaves in the middle gets ErrAmbiguous, and
// can repeat the call.
func TestErrorsOfATransactionSayWhatIsKnown(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p, c := parties(t, s, 1)
		leave := func(what string, op string, do func(ctx context.Context) error) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			fault := loseReply
			fault.After = func() { cancel(); c[0].Disconnect() }
			c[0].On(op, 1, fault)
			if err := do(ctx); OutcomeOf(err) != Unknown || !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", what, err)
			}
			c[0].Reconnect()
			time.Sleep(time.Second)
			mustDo(t, do(t.Context()))
		}
		leave("vote", "create", func(ctx context.Context) error {
			return p[0].Vote(ctx, "a", true)
		})
		leave("join", "multi", func(ctx context.Context) error { return p[0].Join(ctx, "a") })
		wantDecision(t, "commit", awaits(t, p[0]))
		leave("done", "multi", func(ctx context.Context) error { return p[0].Done(ctx, "a") })
		leave("forget", "multi", p[0].Forget)
		mustClose(t, p[0])
		wantError(t, p[0].Vote(t.Context(), "a", true), ErrClosed)
		s.WantBelow(t, "/tx", 0)
	})
}

// TestAnAbandonedJoinLeavesNoPresence: no later call would remove it.
func TestAnAbandonedJoinLeavesNoPresence(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		p, c := parties(t, s, 1)
		abandon(t, c[0], "multi", rule{}, func(ctx context.Context) error {
			return p[0].Join(ctx, "a")
		})
		s.WantBelow(t, "/tx/1", 0)
		c[0].On("multi", 1, rule{After: func() {
			go p[0].Close(t.Context())
			time.Sleep(time.Second)
		}})
		wantError(t, p[0].Join(t.Context(), "a"), ErrClosed)
		time.Sleep(time.Second)
		s.WantBelow(t, "/tx/1", 0)
	})
}

func TestATransactionGivesUpWithItsPolicy(t *testing.T) {
	inBubble(t, func(t *testing.T, s *testServer) {
		s.Seed("/t", `{"sites":["a"]}`)
		c := s.Connect()
		p := NewTwoPhaseCommit(c, "/t", Retry(RetryFixed(time.Second, 2)))
		c.On("create", 1, loseRequest)
		c.On("create", 1, loseRequest)
		wantFailure(t, p.Vote(t.Context(), "a", true), ErrGaveUp, Unknown)
		mustDo(t, p.Vote(t.Context(), "a", true))
	})
}
