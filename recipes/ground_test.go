package recipes

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	znode "github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

func TestEnsurePathMakesContainersWhereTheServerHasThem(t *testing.T) {
	for name, tc := range map[string]struct {
		refused    error
		containers bool
	}{
		"has them": {nil, true},
		"has none": {errors.New("unknown error: -6"), false},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, s *testServer, c *testConn) {
				if tc.refused != nil {
					c.On("createContainer", 1, rule{Lose: true, Err: tc.refused})
				}
				c.On("createContainer", 1, loseReply)
				for range 2 { // the second time everything exists
					mustDo(t, EnsurePath(t.Context(), c, "/a/b", Containers()))
				}
				if n, ok := s.Node("/a/b"); !ok ||
					(n.Kind == znode.ContainerNode) != tc.containers {
					t.Errorf("node %v, %v", ok, n.Kind)
				}
			})
		})
	}
}

func TestEphemeralOfAnotherSessionIsNotAdopted(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		create := func(kind NodeKind) (Node, error) {
			return CreateProtected(t.Context(), c, "/", "n", nil, kind)
		}
		other := s.Connect()
		other.Seed("/n", "")
		check.Is(t, errOf(create(Ephemeral)), zk.ErrNodeExists)
		other.Expire()
		c.On(
			"create", 1, rule{After: func() { c.ExpireLate(testconn.Stays) }},
		) // the node belongs to the session that has ended
		check.Is(t, errOf(create(Ephemeral)), zk.ErrNodeExists)
		s.WantBelow(t, "/", 1) // and is not deleted: it goes with its session
		check.Is(t, errOf(create(NodeKind(9))), zk.ErrBadArguments)
	})
}

func TestAbandonedGuaranteedDeleteGoesOn(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/n", "")
		abandon(t, c, "delete", loseRequest, func(ctx context.Context) error {
			err := GuaranteedDelete(ctx, c, "/n")
			check.Is(t, err, ErrAmbiguous, "abandoned")
			return err
		})
		s.WantBelow(t, "/", 0)
		s.Seed("/n", "")
		s.Seed("/n/child", "")
		wantFailure(t, GuaranteedDelete(t.Context(), c, "/n"), zk.ErrNotEmpty, NotApplied)
	})
}

func TestCreateOnceKeepsTheFirst(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		r := newRequests(c, newOptions(nil))
		c.On("create", 3, loseReply) // parents come second
		for _, tc := range []struct {
			data string
			made bool
		}{{"yes", true}, {"no", false}, {"yes", true}} {
			stored, made, err := r.createOnce(t.Context(), "/votes/a", []byte(tc.data))
			if string(stored) != "yes" || made != tc.made || err != nil {
				t.Errorf("%s: %s %v %v", tc.data, stored, made, err)
			}
		}
	})
}

func TestVigilUsesItsWatchAgainAndOutlivesSessions(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/gate", "")
		v, l := nodeWatch{path: "/gate"},
			newLifecycle(c, "test", "", []Option{RecheckEvery(time.Second)})
		wait := func(ctx context.Context) error {
			return callAction(ctx, l, "wait", func(ctx context.Context, r *requests) error {
				return v.until(ctx, r, r.epoch(), func() (*watch, bool, error) {
					stat, w, err := v.existence(ctx, r)
					return w, stat == nil, err
				})
			})
		}
		ctx := within(t, 10*time.Second)
		if err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) || c.Called("existsW") != 1 {
			t.Errorf("waits: %v, %d watches", err, c.Called("existsW"))
		}
		c.Expire()
		done := make(chan error, 1)
		go func() { done <- wait(t.Context()) }()
		time.Sleep(10 * time.Second)
		check.Equal(t, c.Called("existsW"), 2, "watches after a new session")
		mustDo(t, GuaranteedDelete(t.Context(), c, "/gate"))
		mustDo(t, <-done)
	})
}

// TestVigilBeginsAnewWithAnyEvent: two looks have set two watches. After the event of either, the
// next look sets a new one.
func TestVigilBeginsAnewWithAnyEvent(t *testing.T) {
	for first := range 2 {
		v := nodeWatch{path: "/n"}
		events := []chan zk.Event{make(chan zk.Event, 1), make(chan zk.Event, 1)}
		watches := []*watch{v.keep(events[0], nil), v.keep(events[1], nil)}
		events[first] <- zk.Event{Type: zk.EventNodeDataChanged}
		if _, err := watches[first].await(t.Context(), 0); err != nil || v.current() != nil {
			t.Errorf("event of watch %d: %v, and another watch is taken to be set", first, err)
		}
	}
}

func TestVigilOverDataSeesEveryNewestValue(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		s.Seed("/n", "0")
		v, r := nodeWatch{path: "/n"}, newRequests(c, newOptions(nil))
		var seen []string
		err := v.until(t.Context(), r, r.epoch(), func() (*watch, bool, error) {
			data, _, w, err := v.data(t.Context(), r)
			seen = append(seen, string(data))
			next := string(data[0] + 1)
			if _, err := c.Set("/n", []byte(next), -1); err != nil {
				return nil, true, err
			}
			return w, next == "3", err
		})
		if err != nil || !slices.Equal(seen, []string{"0", "1", "2"}) || c.Called("getW") != 3 {
			t.Errorf("seen %v, %d watches, %v", seen, c.Called("getW"), err)
		}
		mustDo(t, GuaranteedDelete(t.Context(), c, "/n"))
		if _, _, _, err := v.data(t.Context(), r); !errors.Is(err, zk.ErrNoNode) ||
			v.current() != nil {
			t.Errorf("missing node: %v", err)
		}
	})
}

func TestCreateOnceThatEndsInDoubtSaysSo(t *testing.T) {
	for name, tc := range map[string]struct {
		fault rule
		want  bool
	}{"lost reply": {loseReply, true}, "no server": {noServer, false}} {
		alone(t, func(t *testing.T, s *testServer, c *testConn) {
			ctx, cancel := context.WithCancel(t.Context())
			tc.fault.After = cancel
			c.On("create", 1, tc.fault)
			_, _, err := newRequests(c, newOptions(nil)).createOnce(ctx, "/n", nil)
			if !errors.Is(err, context.Canceled) || errors.Is(err, ErrAmbiguous) != tc.want {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestPersistentNodeOnClosedConnIsInDoubt(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		c.On("create", 1, rule{Fault: fault.DropReply, After: c.Close})
		_, err := CreateProtected(t.Context(), c, "/", "n-", nil, PersistentSequential)
		if !errors.Is(err, ErrConnClosed) || OutcomeOf(err) != Unknown {
			t.Errorf("CreateProtected: %v", err)
		}
		s.WantBelow(t, "/", 1)
	})
}

// TestEpochEndsWithItsSession: a decision on a reply of another session is not valid.
func TestEpochEndsWithItsSession(t *testing.T) {
	alone(t, func(t *testing.T, s *testServer, c *testConn) {
		c.Seed("/n", "")
		r := newRequests(c, newOptions(nil))
		e := r.epoch()
		stat, err := r.exists(t.Context(), "/n")
		if err != nil || stat == nil || !e.owns(stat) || e.check() != nil {
			t.Errorf("same session: %v %v %v", stat, err, e.check())
		}
		if (epoch{conn: c}).check() == nil || e.owns(&zk.Stat{EphemeralOwner: 7}) {
			t.Error("no session, or another's node")
		}
		c.ExpireLate(testconn.Stays)
		if e.owns(stat) || !errors.Is(e.check(), errRestart) {
			t.Errorf("after expiry: %v", e.check())
		}
	})
}

func TestExportedSequences(t *testing.T) {
	names := []string{"b-0000000002", "foreign", "a--2147483648", "a-2147483647"}
	if got, want := SortBySequence(names[1:], "-"),
		[]string{"a-2147483647"}; !slices.Equal(got, want) {
		t.Errorf("a marker that is a hyphen: %v",
			got) // it eats the sign, hence the markers of the recipes
	}
	if n, ok := Sequence("/x/a-lock--2147483648", "lock-"); !ok || n != -1<<31 {
		t.Errorf("Sequence: %d %v", n, ok)
	}
	if join("/", "a") != "/a" || parent("/a/b") != "/a" || parent("/") != "/" ||
		baseName("/a/b") != "b" {
		t.Error("paths")
	}
}
