package object_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// dataQueue is a queue with up to three flaws. Only equal or empty elements show them.
type dataQueue struct {
	*recipes.Queue
	conn    recipes.Conn
	dir     string
	dedupes bool // an element that is in the queue is not offered again
	byData  bool // a take deletes the last node that has the data it returns
	noBytes bool // an empty element is not stored
}

func (q *dataQueue) Offer(ctx context.Context, data []byte) error {
	if q.noBytes && len(data) == 0 {
		return nil
	}
	if q.dedupes {
		names, err := q.names()
		if err != nil {
			return err
		}
		if _, found, err := q.nodeOf(names, data); err != nil || found {
			return err
		}
	}
	return q.Queue.Offer(ctx, data)
}

func (q *dataQueue) Take(ctx context.Context) ([]byte, error) {
	if !q.byData {
		return q.Queue.Take(ctx)
	}
	return q.takeByData(ctx)
}

// takeByData returns the first element, and deletes the youngest node with the same data.
func (q *dataQueue) takeByData(ctx context.Context) ([]byte, error) {
	for ctx.Err() == nil {
		names, err := q.names()
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, errors.New("nothing there")
		}
		data, _, err := q.conn.Get(q.dir + "/" + names[0])
		if err != nil {
			continue
		}
		slices.Reverse(names)
		path, found, err := q.nodeOf(names, data)
		if err != nil || !found {
			continue
		}
		err = q.conn.Delete(path, -1)
		if !errors.Is(err, zk.ErrNoNode) {
			return data, err
		}
	}
	return nil, ctx.Err()
}

// names returns the names of the elements in their order.
func (q *dataQueue) names() ([]string, error) {
	names, _, err := q.conn.Children(q.dir)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	slices.SortFunc(names, func(a, b string) int { // by their numbers
		return slices.Compare([]byte(a[len(a)-10:]), []byte(b[len(b)-10:]))
	})
	return names, err
}

// nodeOf is the first node with some data.
func (q *dataQueue) nodeOf(names []string, data []byte) (path string, found bool, err error) {
	for _, name := range names {
		path := q.dir + "/" + name
		has, _, err := q.conn.Get(path)
		switch {
		case err == nil && string(has) == string(data):
			return path, true, nil
		case err != nil && !errors.Is(err, zk.ErrNoNode):
			return "", false, err
		}
	}
	return "", false, nil
}

func dataQueues(wrong func(*dataQueue), distinct bool) scenario.Workload {
	return object.Queue(func(env object.Env) object.Queuer {
		q := &dataQueue{
			Queue: recipes.NewQueue(env.InTurn(), env.Path), conn: env.InTurn(),
			dir: env.Path + "/items",
		}
		wrong(q)
		return struct{ object.Queuer }{q}
	}, object.QueueClaims{
		Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
		Distinct: distinct,
	})
}

// TestQueuesThatKnowElementsByTheirDataAreFound: runs without faults show the flaws, unless all
// elements differ.
func TestQueuesThatKnowElementsByTheirDataAreFound(t *testing.T) {
	tests := []struct {
		name     string
		wrong    func(*dataQueue)
		property string
	}{
		{"dedupes", func(q *dataQueue) { q.dedupes = true }, linearizability.Delivery},
		{"deletes by data", func(q *dataQueue) { q.byData = true }, linearizability.Order},
		{"drops empty", func(q *dataQueue) { q.noBytes = true }, linearizability.Delivery},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if v := firstViolation(t, dataQueues(tt.wrong, false), tt.property); v == "" {
				t.Errorf("%s never violated", tt.property)
			} else {
				t.Log(v)
			}
			if v := firstViolation(t, dataQueues(tt.wrong, true), tt.property); v != "" {
				t.Errorf("distinct elements: %s", v)
			}
		})
	}
}

// cuttingQueue returns elements without a part of them.
type cuttingQueue struct {
	*recipes.Queue
	cut func([]byte) []byte
}

func (q cuttingQueue) Take(ctx context.Context) ([]byte, error) {
	data, err := q.Queue.Take(ctx)
	if len(data) >= 512 {
		data = q.cut(data)
	}
	return data, err
}

// TestLongElementsThatAreCutAreFound: a long element is known by all of its bytes.
func TestLongElementsThatAreCutAreFound(t *testing.T) {
	for name, cut := range map[string]func([]byte) []byte{
		"nothing":         func(data []byte) []byte { return data },
		"the first byte":  func(data []byte) []byte { return data[1:] },
		"the last byte":   func(data []byte) []byte { return data[:len(data)-1] },
		"all but the end": func(data []byte) []byte { return data[len(data)-10:] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := object.Queue(func(env object.Env) object.Queuer {
				return struct{ object.Queuer }{
					cuttingQueue{recipes.NewQueue(env.InTurn(), env.Path), cut},
				}
			}, object.QueueClaims{
				Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
			})
			v := firstViolation(t, w, linearizability.Delivery)
			if found := v != ""; found != (name != "nothing") {
				t.Errorf("violations: %q", v)
			}
		})
	}
}

// firstViolation is the first violation of a property in 40 runs without faults.
func firstViolation(t *testing.T, w scenario.Workload, property string) string {
	t.Helper()
	for seed := range uint64(40) {
		o := fuzztest.Run(t, scenario.Scenario{
			Workload: w, Script: scenario.DefaultScript, Seed: seed,
		})
		v, _ := o.Report.Verdict(property)
		if v.Status == linearizability.Violated {
			return v.Summary
		}
	}
	return ""
}

// TestTheTakeThatLostAnElementIsNamed although it returned no bytes with its error, in a run in
// which no bytes may be an empty element.
func TestTheTakeThatLostAnElementIsNamed(t *testing.T) {
	t.Parallel()
	o := run(t, scenario.Scenario{
		Workload: fuzztest.Builtin(t, "queue", "recipes.ApacheQueue"), Script: scenario.DefaultScript,
		Seed: 6000018, Plan: plan(t, "drop-request client=a op=create request=1",
			"drop-reply client=b op=delete request=1"),
	})
	v, _ := o.Report.Verdict(linearizability.Delivery)
	if !strings.Contains(v.Summary, "is lost: b's take (") {
		t.Errorf("%s", o.Story())
	}
}

// copies is a queue that stores each element four times.
type copies struct{ *recipes.Queue }

func (q copies) Offer(ctx context.Context, data []byte) error {
	return q.Queue.Offer(ctx, bytes.Repeat(data, 4))
}

func (q copies) Take(ctx context.Context) ([]byte, error) {
	data, err := q.Queue.Take(ctx)
	return data[:len(data)/4], err
}

func (q copies) Poll(context.Context) {} // is none
func (q copies) Peek(context.Context) {} // is none

// TestLongPayloadsLeaveRoom: an object may store more than an element of the greatest length.
func TestLongPayloadsLeaveRoom(t *testing.T) {
	t.Parallel()
	w := object.Queue(func(env object.Env) object.Queuer {
		return copies{recipes.NewQueue(env.InTurn(), env.Path)}
	}, object.QueueClaims{
		Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
		Element: func(data string) (string, bool) { return data[:len(data)/4], true },
	}).Named("copies")
	longest := 0
	for seed := range uint64(60) {
		out := fuzztest.Holds(t, scenario.Scenario{Workload: w, Seed: seed,
			Script: scenario.Script{Clients: 2, Rounds: 1}})
		for _, e := range out.History.Server {
			longest = max(longest, len(e.Data))
		}
	}
	if longest < 4*32<<10 {
		t.Errorf("the longest element has %d bytes; expected four times 32 KB", longest)
	}
}
