package real

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// A control is a workload that is known to be wrong, with a fault that shows it.
type control struct {
	workload scenario.Workload
	fault    string
	property string
}

var controls = []control{
	{
		find("lock", "zk.Lock"),
		"drop-request client=a op=getChildren2 request=1", linearizability.Liveness,
	},
	{
		find("queue", "recipes.ApacheQueue"),
		"drop-reply client=a op=delete request=1", linearizability.Delivery,
	},
	{
		object.Lock(newBlindLock).Named("creates again"),
		"drop-reply client=a op=create path=/lock/* request=2", linearizability.Liveness,
	},
	{
		object.Counter(newBlindCounter).Named("adds again"),
		"drop-reply client=a op=setData request=1", linearizability.Delivery,
	},
}

// TestWrongOnesAreFound is the control of TestRightWorkloadsSurvive: a wrong workload
// does not survive.
func TestWrongOnesAreFound(t *testing.T) {
	t.Parallel()
	controls := controls
	if !testrun.Full() { // those that hang take 20 s
		controls = slices.DeleteFunc(slices.Clone(controls), func(c control) bool {
			return c.property == linearizability.Liveness
		})
	}
	p := startPool(t, len(controls))
	each(len(controls), func(i int) { isFound(t, p, controls[i]) })
}

// isFound plays a control without faults, and with its fault.
func isFound(t *testing.T, p *pool, c control) {
	t.Run(c.workload.Impl, func(t *testing.T) {
		script := scenario.Script{Clients: 1, Rounds: 1}
		s := scenario.Scenario{Workload: c.workload, Script: script, Seed: *seed}
		if o := play(t, p, s); o.Status() == linearizability.Violated {
			t.Errorf("without faults: %s", o.Story())
		}
		f, err := fault.Parse(c.fault)
		check.OK(t, err)
		s.Plan = []fault.Fault{f}
		o := play(t, p, s)
		for tries := 1; tries < 3 && busy(o, c.property); tries++ {
			o = play(t, p, s)
		}
		v, judged := o.Report.Verdict(c.property)
		if !judged || v.Status != linearizability.Violated {
			t.Errorf("%s is not violated: %s\n%s\n%s", c.property, v.Summary, o.Story(),
				o.Result.Trace)
		}
		t.Log(o.Summary())
	})
}

// busy reports whether the machine stalled, so that a run has no verdict.
func busy(o *scenario.Outcome, property string) bool {
	v, _ := o.Report.Verdict(property)
	return strings.HasPrefix(v.Summary, "the machine was too busy")
}

// play plays a scenario once.
func play(t *testing.T, p *pool, s scenario.Scenario) *scenario.Outcome {
	t.Helper()
	o, err := p.run(t, s)
	check.OK(t, err)
	return o
}

func find(name, impl string) scenario.Workload {
	w, err := builtin.Find(name, impl)
	if err != nil {
		panic(err)
	}
	return w
}

// blindLock is the plain fair lock. It creates another znode if the reply to a create
// was lost.
type blindLock struct {
	conn *zk.Conn
	own  string
}

func newBlindLock(env object.Env) object.Locker { return &blindLock{conn: env.Conn} }

var openACL = zk.WorldACL(zk.PermAll)

func (l *blindLock) Lock(ctx context.Context) error {
	var err error
	for {
		l.own, err = l.conn.Create("/lock/n-", nil, zk.FlagEphemeralSequential, openACL)
		if err == nil {
			return l.wait(ctx)
		}
		if errors.Is(err, zk.ErrNoNode) {
			_, err = l.conn.Create("/lock", nil, 0, openACL)
		}
		lost := errors.Is(err, zk.ErrConnectionClosed)
		if err != nil && !lost && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
}

// wait waits until the own znode is the oldest.
func (l *blindLock) wait(ctx context.Context) error {
	for {
		names, _, changed, err := l.conn.ChildrenW("/lock")
		if err != nil {
			return err
		}
		if slices.Min(names) == strings.TrimPrefix(l.own, "/lock/") {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *blindLock) Unlock(context.Context) error { return l.conn.Delete(l.own, -1) }

// blindCounter adds by compare and set, and adds again if the reply was lost.
type blindCounter struct{ conn *zk.Conn }

func newBlindCounter(env object.Env) object.Counterer { return blindCounter{env.Conn} }

func (c blindCounter) Add(_ context.Context, delta int64) (int64, error) {
	for {
		data, stat, err := c.conn.Get("/counter")
		if errors.Is(err, zk.ErrNoNode) {
			if _, err = c.conn.Create("/counter", []byte("0"), 0, openACL); err == nil {
				continue
			}
		}
		if tryAgain(err) {
			continue
		}
		if err != nil {
			return 0, err
		}
		value, err := strconv.ParseInt(string(data), 10, 64)
		if err != nil {
			return 0, err
		}
		_, err = c.conn.Set("/counter", strconv.AppendInt(nil, value+delta, 10), stat.Version)
		switch {
		case err == nil:
			return value + delta, nil
		case !tryAgain(err) && !errors.Is(err, zk.ErrBadVersion):
			return 0, err
		}
	}
}

func tryAgain(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer)
}
