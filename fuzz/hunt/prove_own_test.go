package hunt

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/lock"
)

// told is all that a judge of the user is told of a run, in its order: changes at the server, calls
// and returns.
func told(o *scenario.Outcome) string {
	events := map[int64]string{}
	for _, e := range o.History.Server {
		if e.Kind != linearizability.SessionStarted {
			events[e.Step] = fmt.Sprint(e.Kind, " ", e.Path)
		}
	}
	calls := map[string]int{}
	for _, op := range o.History.Ops {
		calls[op.Client]++
		events[op.Call] = fmt.Sprintf("%s calls %d", op.Client, calls[op.Client])
		events[op.Return] = fmt.Sprintf("%s ends %d: %s", op.Client, calls[op.Client], op.Output)
	}
	for _, n := range o.History.Notices {
		if n.Kind == linearizability.SessionExpired {
			events[n.Step] = fmt.Sprint(n.Client, " is told: ", n.Kind)
		}
	}
	var list []string
	for step := range o.History.End + 1 {
		if text := events[step]; text != "" {
			list = append(list, text)
		}
	}
	return strings.Join(list, "\n")
}

// TestProofOfOwnRulesShowsAllThatAJudgeIsTold, and a proof of a rule of ours does not.
func TestProofOfOwnRulesShowsAllThatAJudgeIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plan    string
		scripts []string
	}{
		{"", []string{"get /x", "get /y"}},
		{"", []string{"put /x", "put /y"}},
		{"", []string{"create /a", "create /b, delete /b"}},
		{"drop-reply client=a request=1", []string{"put /x", "put /y"}},
		{"expire client=a at=1µs", []string{"ephemeral /e", "put /y"}},
		{"expire client=a at=1µs", []string{"get /x", "put /y"}},
	} {
		t.Run(c.plan+strings.Join(c.scripts, " | "), func(t *testing.T) {
			t.Parallel()
			s := tinyWith(t, c.plan, c.scripts...)
			want, runs, complete := everyRun(t, s, mostRuns(), told)
			got, classes := everyClass(t, s, told, func(w *walk) { w.own = true })
			t.Logf("%d runs, complete: %v, %d classes, %d different", runs, complete, classes, len(want))
			if not := missing(want, got); len(not) > 0 {
				t.Errorf("%d classes show %d of %d; missing, for instance:\n%s",
					classes, len(got), len(want), not[0])
			}
			ours, _ := everyClass(t, s, told, func(w *walk) { w.own = false })
			if len(missing(got, ours)) == 0 {
				t.Error("the comparison does not notice that the order of events counts for nothing")
			}
		})
	}
}

// TestAJudgeOfTheUserIsKnown by the properties of its workload, and not by its verdicts: it may
// have none in the first run, or call its property like one of ours.
func TestAJudgeOfTheUserIsKnown(t *testing.T) {
	t.Parallel()
	const order = "changes /y, changes /x, a ends, b ends"
	for _, c := range []struct {
		property string
		listed   []string
		violated bool
	}{
		{"mine", nil, true}, {linearizability.Safety, nil, true}, {"mine", []string{"mine"}, true},
		{linearizability.Safety, []string{linearizability.Safety}, false},
	} {
		s := tiny("put /x", "put /y")
		s.Workload.Properties = c.listed
		s.Workload.Judge = func(e scenario.Evidence) (r linearizability.Report, err error) {
			events := map[int64]string{}
			for _, change := range e.History.Server {
				if change.Kind == linearizability.DataChanged {
					events[change.Step] = "changes " + change.Path
				}
			}
			for _, op := range e.History.Ops {
				events[op.Return] = op.Client + " ends"
			}
			var list []string
			for _, step := range slices.Sorted(maps.Keys(events)) {
				list = append(list, events[step])
			}
			if strings.Join(list, ", ") == order {
				r.Add(linearizability.Verdict{Property: c.property,
					Status: linearizability.Violated})
			}
			return r, nil
		}
		p, err := Prove(t.Context(), s, Bounds{})
		check.OK(t, err)
		check.Equal(t, p.Violation != nil, c.violated, "%s of %v: %v", c.property, c.listed, p)
		if p.Scope() != nil {
			check.Contains(t, p.Scope().String(), "as far as a client can tell it")
		}
	}
	s := tiny("get /x")
	s.Workload.Properties = nil
	p, err := Prove(t.Context(), s, Bounds{})
	check.OK(t, err)
	check.Contains(t, p.Scope().String(), "because the judge is your own")
}

// TestAViolationWithoutFaultsIsTold by each shard alike, also by one that counts no such run. It
// needs no word about runs with fewer faults.
func TestAViolationWithoutFaultsIsTold(t *testing.T) {
	t.Parallel()
	s := rare([]any{"put /x"}, []any{"get /x"}, func(a, b []linearizability.Op) bool {
		return b[0].Return < a[0].Call
	})
	for i := range 2 {
		p, err := Prove(t.Context(), s, Bounds{Faults: 1, Part: Part{i + 1, 2}})
		check.OK(t, err)
		if says := p.String(); !strings.HasPrefix(says, "violated in run ") ||
			strings.HasPrefix(says, "violated in run 0") {
			t.Error(says)
		}
		check.Equal(t, p.Scope(), nil)
	}
}

// TestProofFindsATheft: a lock whose holders have a node and a guard. A client that finds the guard
// deletes the node of a, who may hold the lock then or may have called unlock. A pause says which
// of these the first run is.
func TestProofFindsATheft(t *testing.T) {
	t.Parallel()
	acl := zk.WorldACL(zk.PermAll)
	for _, rest := range []time.Duration{10 * time.Millisecond, 60 * time.Millisecond} {
		s := tiny("", "")
		s.Workload.Nodes = map[string]string{"/lock": ""}
		s.Workload.Play = func(p *scenario.Player, _ scenario.Script) {
			own, conn := "/lock/"+p.Name(), p.Conn()
			if p.Name() == "b" {
				p.Pause(rest)
			}
			err := p.Do("lock", "", func(context.Context) (r linearizability.Result, err error) {
				if _, err = conn.Create(own, nil, zk.FlagEphemeral, acl); err != nil {
					return r, err
				}
				for {
					_, err = conn.Create("/guard", nil, zk.FlagEphemeral, acl)
					if err != zk.ErrNodeExists {
						return r, err
					}
					if p.Name() == "b" {
						_ = conn.Delete("/lock/a", -1)
					}
					there, _, gone, err := conn.ExistsW("/guard")
					if err != nil {
						return r, err
					}
					if there {
						<-gone
					}
				}
			})
			if err == nil {
				p.Pause(20 * time.Millisecond)
				_ = p.Call("unlock", "", func(context.Context) error {
					_ = conn.Delete(own, -1)
					return conn.Delete("/guard", -1)
				})
			}
		}
		s.Workload.Properties = lock.Claims{}.Properties()
		s.Workload.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
			return linearizability.Judge(e.History, e.Rest, lock.Claims{Path: "/lock"}), nil
		}
		p, err := Prove(t.Context(), s, Bounds{})
		check.OK(t, err)
		if p.Violation == nil {
			t.Errorf("pause of %v: %v", rest, p)
		}
	}
}
