package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// parties runs a test of n handles of one transaction, each with its own connection. The first has
// begun it, with sites a, b, ... and a deadline in an hour.
func parties(
	t *testing.T, n int,
	test func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn),
) {
	inBubble(t, func(t *testing.T, s *testServer) {
		var handles []*TwoPhaseCommit
		var conns []*testConn
		tx := Transaction{Deadline: time.Now().Add(time.Hour), Data: []byte("x=1")}
		for i := range n {
			tx.Sites = append(tx.Sites, string(rune('a'+i)))
			conns = append(conns, s.Connect())
			handles = append(handles, NewTwoPhaseCommit(conns[i], "/tx/1", RecheckEvery(0)))
		}
		mustDo(t, handles[0].Begin(t.Context(), tx))
		test(t, s, handles, conns)
	})
}

// vote lets sites vote: "ac" is yes of a and c.
func vote(t *testing.T, p []*TwoPhaseCommit, sites string, yes bool) {
	t.Helper()
	for _, site := range sites {
		mustDo(t, p[site-'a'].Vote(t.Context(), string(site), yes))
	}
}

// awaits waits for a decision in the background, and returns it as text.
func awaits(t *testing.T, c *TwoPhaseCommit) chan string {
	text := make(chan string, 1)
	go func() {
		d, err := c.Await(t.Context())
		text <- fmt.Sprint(decisionText(d), " ", err)
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
	parties(t, 2, func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn) {
		tx, err := p[1].Read(t.Context())
		if err != nil || fmt.Sprint(tx.Sites) != "[a b]" || string(tx.Data) != "x=1" ||
			!tx.Deadline.Equal(time.Now().Truncate(time.Second).Add(time.Hour)) {
			t.Errorf("read %+v %v", tx, err)
		}
		a, b := awaits(t, p[0]), awaits(t, p[1])
		vote(t, p, "a", true)
		check.Is(t, p[0].Done(t.Context(), "a"), ErrUndecided)
		check.Is(t, p[0].Forget(t.Context()), ErrUndecided)
		vote(t, p, "b", true)
		wantDecision(t, "commit", a, b, awaits(t, p[0]))
		vote(t, p, "a", true) // again
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
		check.Contains(t, <-awaits(t, p[0]),
			"await decision of transaction /tx/1: there is no such transaction")
		wantFailure(t, p[0].Vote(t.Context(), "a", true), ErrNoTransaction, NotApplied)
		mustCloseAll(t, p)
	})
}

func TestAbortAtOnceWhenOneVotesNo(t *testing.T) {
	parties(t, 3, func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn) {
		a := awaits(t, p[0])
		vote(t, p, "b", false)
		wantDecision(t, "abort b votes no", a, awaits(t, p[1]))
		vote(t, p, "c", true)               // late
		mustDo(t, p[0].Forget(t.Context())) // to a late site it counts as aborted
		s.WantBelow(t, "/tx", 0)
	})
}

// TestAbortAtTheDeadlineOfWhoeverWaits: without the coordinator, too, and not before.
func TestAbortAtTheDeadlineOfWhoeverWaits(t *testing.T) {
	parties(t, 3, func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn) {
		vote(t, p, "b", true)
		c[0].Close()
		b, late := awaits(t, p[1]), NewTwoPhaseCommit(s.Connect(), "/tx/1") // with rechecks
		l := awaits(t, late)
		time.Sleep(59 * time.Minute)
		if len(b)+len(l) > 0 {
			t.Error("aborted before the deadline")
		}
		wantDecision(t, "abort no vote in time of a, c", b, l)
		vote(t, p, "c", true)
		wantDecision(t, "abort no vote in time of a, c", awaits(t, p[2]))
	})
}

func TestASiteThatHasGoneIsNotWaitedFor(t *testing.T) {
	parties(t, 3, func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn) {
		mustDo(t, p[1].Join(t.Context(), "b"))
		mustDo(t, p[2].Join(t.Context(), "c"))
		a := awaits(t, p[0])
		vote(t, p, "b", true)
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
	parties(t, 2, func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn) {
		err := p[1].Begin(t.Context(), Transaction{Sites: []string{"b"}})
		wantFailure(t, err, ErrTransactionExists, NotApplied)
		s.WantBelow(t, "/tx", 1) // and no record
	})
}

// TestDecisionsThatRace: both learn the decision that was first.
func TestDecisionsThatRace(t *testing.T) {
	parties(t, 2, func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn) {
		vote(t, p, "ab", true)
		c[0].On("multi", 1, rule{Before: func() { s.Seed("/tx/1/decision", "abort by others") }})
		wantDecision(t, "abort by others", awaits(t, p[0]), awaits(t, p[1]))
	})
}

// TestAVoteThatIsTakenBackIsNotCounted: clients should not delete votes, but can.
func TestAVoteThatIsTakenBackIsNotCounted(t *testing.T) {
	parties(t, 2, func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn) {
		vote(t, p, "ab", true)
		c[0].On("multi", 1, rule{Before: func() { mustDo(t, c[1].Delete("/tx/1/vote-b", 0)) }})
		a := awaits(t, p[0])
		check.Equal(t, len(a), 0) // not decided without b
		c[0].On("get", 1, rule{Before: func() { mustDo(t, c[1].Delete("/tx/1/vote-b", 0)) }})
		vote(t, p, "b", true)
		time.Sleep(time.Second)
		vote(t, p, "b", true)
		wantDecision(t, "commit", a)
	})
}

func TestForgottenWhileSomebodyWaits(t *testing.T) {
	parties(t, 2, func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn) {
		c[0].On("childrenW", 1, rule{Before: func() {
			vote(t, p, "b", false)
			wantDecision(t, "abort b votes no", awaits(t, p[1]))
			mustDo(t, p[1].Forget(t.Context()))
		}})
		check.Contains(t, <-awaits(t, p[0]), ErrNoTransaction.Error())
	})
}

// TestForgetBesideALateVote: all nodes are deleted at once, or listed again.
func TestForgetBesideALateVote(t *testing.T) {
	parties(t, 2, func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn) {
		vote(t, p, "b", false)
		wantDecision(t, "abort b votes no", awaits(t, p[1]))
		c[1].On("multi", 1, rule{Before: func() { vote(t, p, "a", true) }})
		mustDo(t, p[1].Forget(t.Context()))
		s.WantBelow(t, "/tx", 0)
	})
}

func TestForgetRefusesWhatIsNotItsOwn(t *testing.T) {
	parties(t, 1, func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn) {
		vote(t, p, "a", false)
		wantDecision(t, "abort a votes no", awaits(t, p[0]))
		s.Seed("/tx/1/notes", "")
		s.Seed("/tx/1/notes/1", "")
		wantFailure(t, p[0].Forget(t.Context()), zk.ErrNotEmpty, NotApplied)
	})
}

func TestBadTransactions(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		for name, data := range map[string]string{
			"empty": "", "array": "[]", "nobody": `{"sites":[]}`,
		} {
			s.Seed("/"+name, data)
		}
		s.Seed("/voted", `{"sites":["a"]}`)
		s.Seed("/voted/vote-a", "maybe")
		s.Seed("/decided", `{"sites":["a"]}`)
		s.Seed("/decided/decision", "later")
		on := func(path string) *TwoPhaseCommit { return NewTwoPhaseCommit(c, path) }
		await := func(path string) error { return errOf(on(path).Await(t.Context())) }
		begin := func(deadline time.Time, sites ...string) error {
			return on("/t").Begin(t.Context(), Transaction{Sites: sites, Deadline: deadline})
		}
		farOff, none := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}
		for _, tc := range []struct {
			err  error
			want string
		}{
			{await("/empty"), `await decision of transaction /empty: the data is ""; expected a`},
			{await("/array"), `/array: the data is "[]"; expected a transaction with sites as`},
			{await("/nobody"), `/nobody: the data is "{\"sites\":[]}"; expected`},
			{await("/voted"), `/voted: the vote of a is "maybe"; expected yes or no`},
			{await("/decided"), `/decided: the decision is "later"; expected commit or abort`},
			{begin(none), `begin transaction /t: no sites; expected one at least`},
			{begin(none, "a/b"), `site "a/b": expected the name of one node`},
			{begin(none, "a", "b", "a"), `site "a": named twice`},
			{begin(farOff, "a"), `encode transaction: `},
			{on("/voted").Vote(t.Context(), "z", true), `vote in transaction /voted: not a site ` +
				`of the transaction: "z" is none of a`},
			{on("/voted").Join(t.Context(), "z"), `join transaction /voted: not a site`},
			{on("/voted").Done(t.Context(), "z"), `finish transaction /voted: not a site`},
			{on("/none").Join(t.Context(), "a"), `join transaction /none: there is no such`},
			{on("/empty").Forget(t.Context()), `forget transaction /empty: the data is ""`},
		} {
			wantOutcome(t, tc.err, NotApplied)
			if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
				t.Errorf("got %v, want %s", tc.err, tc.want)
			}
		}
	})
}

// TestErrorsOfATransactionSayWhatIsKnown: a caller that leaves in the middle gets ErrAmbiguous, and
// can repeat the call.
func TestErrorsOfATransactionSayWhatIsKnown(t *testing.T) {
	parties(t, 1, func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn) {
		leave := func(op string, do func(ctx context.Context) error) {
			t.Helper()
			ctx, leaving := abandoning(t, c[0], loseReply)
			c[0].On(op, 1, leaving)
			wantFailure(t, do(ctx), context.Canceled, Unknown)
			c[0].Reconnect()
			time.Sleep(time.Second)
			mustDo(t, do(t.Context()))
		}
		leave("create", func(ctx context.Context) error { return p[0].Vote(ctx, "a", true) })
		leave("multi", func(ctx context.Context) error { return p[0].Join(ctx, "a") })
		wantDecision(t, "commit", awaits(t, p[0]))
		leave("multi", func(ctx context.Context) error { return p[0].Done(ctx, "a") })
		leave("multi", p[0].Forget)
		mustClose(t, p[0])
		check.Is(t, p[0].Vote(t.Context(), "a", true), ErrClosed)
		s.WantBelow(t, "/tx", 0)
	})
}

// TestAnAbandonedJoinLeavesNoPresence: no later call would remove it.
func TestAnAbandonedJoinLeavesNoPresence(t *testing.T) {
	parties(t, 1, func(t *testing.T, s *testServer, p []*TwoPhaseCommit, c []*testConn) {
		abandon(t, c[0], "multi", rule{}, func(ctx context.Context) error {
			return p[0].Join(ctx, "a")
		})
		s.WantBelow(t, "/tx/1", 0)
		c[0].On("multi", 1, rule{After: func() {
			go p[0].Close(t.Context())
			time.Sleep(time.Second)
		}})
		check.Is(t, p[0].Join(t.Context(), "a"), ErrClosed)
		time.Sleep(time.Second)
		s.WantBelow(t, "/tx/1", 0)
	})
}

// decisionText returns a decision as text.
func decisionText(d Decision) string {
	if d.Commit {
		return "commit"
	}
	return "abort " + d.Why
}
