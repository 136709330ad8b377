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
	"github.com/zksim/zksim/internal/testrun"
	. "github.com/zksim/zksim/recipes"
)

// The tests of this file play the scenes with each recipe.

// playScene plays a scene with rules for the n-th request and those after it. It returns the number
// of requests, the nodes in the end, and the error. settle is called before the handles are closed.
func playScene(
	t *testing.T, script func(p *play), n int,
	rules func(p *play, leave context.CancelFunc) []rule, settle func(p *play),
) (requests int, tree string, err error) {
	inBubble(t, func(t *testing.T, s *testServer) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		p := &play{T: t, ctx: ctx, s: s, c: s.Connect()}
		for _, r := range rules(p, cancel) {
			p.c.On("", n, r)
		}
		script(p)
		if settle != nil {
			settle(p)
		}
		err, requests = p.err, len(p.c.Calls())
		for _, h := range p.ends {
			if closing := h.Close(t.Context()); err == nil {
				err = closing
			}
		}
		cancel()
		letSettle()
		s.ClearFaults() // nodes that stay for a while go
		letSettle()
		for _, node := range s.Tree() {
			tree += fmt.Sprintf("%s=%q ", node.Path, node.Data)
		}
	})
	return requests, tree, err
}

func noRules(*play, context.CancelFunc) []rule { return nil }

// everyRequest calls a test for each request of each scene, with the nodes that an undisturbed play
// leaves.
func everyRequest(t *testing.T, test func(t *testing.T, name string, nth int, tree string)) {
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests, tree, err := playScene(t, scene.script, 1, noRules, nil)
			check.OK(t, err)
			for nth := 1; nth <= requests && !t.Failed(); nth++ {
				if test(t, name, nth, tree); t.Failed() {
					t.Logf("at request %d", nth)
				}
			}
		})
	}
}

// sample is one of several disturbances of the n-th request, in turn, or with -full all of them.
func sample[T any](nth int, all ...T) []T {
	return testrun.Pick(all[nth%len(all):][:1], all)
}

// TestNoLossLosesOrDoubles: one message is lost, or two in a row.
func TestNoLossLosesOrDoubles(t *testing.T) {
	everyRequest(t, func(t *testing.T, name string, nth int, tree string) {
		for _, faults := range append(sample(nth, []rule{loseRequest}, []rule{netError},
			[]rule{noServer}, []rule{loseReply, loseRequest},
			[]rule{{Err: zk.ErrSessionExpired}}), []rule{loseReply}) {
			lost := func(*play, context.CancelFunc) []rule { return faults }
			_, left, err := playScene(t, scenes[name].script, nth, lost, nil)
			if err != nil || left != tree {
				t.Errorf("fault %v: %v, left %s, want %s", faults, err, left, tree)
			}
		}
	})
}

// TestScenesGoOnInANewSession that begins after the reply to a request, or instead of it.
func TestScenesGoOnInANewSession(t *testing.T) {
	everyRequest(t, func(t *testing.T, name string, nth int, tree string) {
		stay := scenes[name].stay
		if stay == 0 {
			return
		}
		type end struct {
			late bool
			err  error
		}
		for _, end := range sample(nth, end{false, nil}, end{true, nil},
			end{true, zk.ErrSessionExpired}) {
			ends := func(p *play, _ context.CancelFunc) []rule {
				if end.late {
					return []rule{{After: func() { p.c.ExpireLate(stay) }, Err: end.err}}
				}
				return []rule{{After: p.c.Expire}}
			}
			_, left, err := playScene(t, scenes[name].script, nth, ends, nil)
			if err != nil || left != tree {
				t.Errorf("%+v: %v, left %s, want %s", end, err, left, tree)
			}
		}
	})
}

// TestRefusalsAreReported, and nothing ephemeral is left.
func TestRefusalsAreReported(t *testing.T) {
	everyRequest(t, func(t *testing.T, name string, nth int, _ string) {
		if scenes[name].loop {
			return
		}
		refused := func(*play, context.CancelFunc) []rule { return []rule{refusal} }
		if _, _, err := playScene(t, scenes[name].script, nth, refused, nil); err != nil {
			check.Is(t, err, zk.ErrNoAuth)
		}
	})
}

// TestAbandonedCallsCreateNothing: the caller leaves while a request is under way, and gets the
// answer soon. Afterwards only clean-up may change the server.
func TestAbandonedCallsCreateNothing(t *testing.T) {
	everyRequest(t, func(t *testing.T, name string, nth int, _ string) {
		if scenes[name].loop {
			return
		}
		for _, lost := range sample(nth, rule{}, loseRequest) {
			leaves := func(p *play, leave context.CancelFunc) []rule {
				r := lost
				r.Before = func() {
					p.strike()
					leave()
					time.Sleep(10 * time.Second)
				}
				return []rule{r}
			}
			_, _, err := playScene(t, scenes[name].script, nth, leaves, func(p *play) {
				if p.err == nil || p.struck.Load() == 0 {
					return
				}
				if took := p.since(); took > 9*time.Second {
					p.Errorf("the caller had to wait for %v", took)
				}
				time.Sleep(time.Minute)
				for _, request := range p.c.Calls()[p.sent.Load():] {
					if strings.HasPrefix(request, "create") || strings.HasPrefix(request, "getW") {
						p.Errorf("sent %v", request)
					}
				}
			})
			if err != nil {
				check.Is(t, err, context.Canceled)
			}
		}
	})
}

// TestClosedConnEndsScenes soon. No scene has two requests under way on the connection, as Close of
// the client could hang; see the limits in the package comment.
func TestClosedConnEndsScenes(t *testing.T) {
	everyRequest(t, func(t *testing.T, name string, nth int, _ string) {
		closes := func(p *play, _ context.CancelFunc) []rule {
			return []rule{{After: func() { p.strike(); p.over.Store(true); p.c.Close() }}}
		}
		_, _, err := playScene(t, scenes[name].script, nth, closes, func(p *play) {
			if took := p.since(); p.err != nil && took > 15*time.Second {
				p.Errorf("ended after %v: %v", took, p.err)
			}
		})
		if err != nil && !errors.Is(err, ErrLost) {
			check.Is(t, err, ErrConnClosed)
		}
	})
}
