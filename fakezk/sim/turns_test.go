package sim

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// everyOrder runs a World in every order, and returns what the clients have seen in the runs: the
// lines of each in the trace, without those about messages that others bring to the server.
func everyOrder(t *testing.T, w World) (seen map[string]bool, runs int) {
	t.Helper()
	seen = map[string]bool{}
	w.Schedule.Kind, w.Settle = Turns, time.Second
	var choices testrun.Choices
	w.Chooser = func(turn trace.Turn) int {
		if len(turn.Things) == 0 {
			return 0
		}
		return choices.Choose(len(turn.Things))
	}
	for more := true; more; more = choices.Next() {
		runs++
		seen[linesOfClients(mustRun(t, w))] = true
	}
	return seen, runs
}

func linesOfClients(r *trace.Result) string {
	lines := map[string]string{}
	for n := range int64(r.Trace.Len()) {
		e := r.Trace.Entry(n + 1)
		if e.Actor != "server" && !strings.HasPrefix(e.Text, "->") &&
			!strings.Contains(e.Text, "session") && e.Text != "<- ping: ok" {
			lines[e.Actor] += e.Text + "\n"
		}
	}
	text := ""
	for _, client := range slices.Sorted(maps.Keys(lines)) {
		text += client + ":\n" + lines[client]
	}
	return text
}

// readsX reads a node, and says what it has.
func readsX(_ context.Context, c *Client) {
	data, _, err := c.Conn().Get("/x")
	c.Note("read %q: %v", data, err)
}

func writesX(_ context.Context, c *Client) {
	_, err := c.Conn().Set("/x", []byte("new"), -1)
	c.Note("write: %v", err)
}

// watchesX reads a node, with a watch, and reads it again.
func watchesX(ctx context.Context, c *Client) {
	data, _, _, err := c.Conn().GetW("/x")
	c.Note("watches %q: %v", data, err)
	readsX(ctx, c)
}

// eager waits for a change of a node for a moment, and says which of the two came.
func eager(ctx context.Context, c *Client) {
	data, _, changed, err := c.Conn().GetW("/x")
	if c.Note("watches %q: %v", data, err); string(data) == "new" {
		return
	}
	over := make(chan struct{})
	go func() {
		c.Sleep(ctx, 10*time.Millisecond)
		close(over)
	}()
	select {
	case <-changed:
		c.Note("changed")
		<-over
	case <-over:
		c.Note("over")
		<-changed
	}
}

// hasty waits for a change of a node within a context, and says which of the two came.
func hasty(ctx context.Context, c *Client) {
	_, _, changed, err := c.Conn().GetW("/x")
	c.Note("watches: %v", err)
	ctx, cancel := c.Goroutine(0).Within(ctx, 10*time.Millisecond)
	defer cancel()
	made, stop := context.WithCancel(ctx)
	defer stop()
	select {
	case <-changed:
		c.Note("changed")
	case <-made.Done():
		c.Note("over: %v, %v", made.Err(), ctx.Err())
	}
}

// TestContextsEndInEveryOrder with messages, and so do those made of them.
func TestContextsEndInEveryOrder(t *testing.T) {
	t.Parallel()
	w := World{Nodes: map[string]string{"/x": "old"},
		Clients: []Actor{actor("a", hasty), actor("b", writesX)}}
	seen, _ := everyOrder(t, w)
	all := strings.Join(slices.Collect(maps.Keys(seen)), "\n")
	check.Contains(t, all, "changed")
	check.Contains(t, all, "over: context deadline exceeded, context deadline exceeded")
}

// TestWhatComesAtOnceLeavesNothingOut compares the runs in which replies come at once with all
// runs: the clients see the same. If all messages came at once, they would not.
func TestWhatComesAtOnceLeavesNothingOut(t *testing.T) {
	t.Parallel()
	never := func(bool) bool { return false }
	always := func(bool) bool { return true }
	for _, c := range []struct {
		about   string
		plan    string
		a, b    func(context.Context, *Client)
		noticed bool // by the comparison, if everything comes at once
	}{
		{"a read and a write", "", readsX, writesX, true},
		{"a change and the end of a pause", "", eager, writesX, true},
		{"a change and the end of a context", "", hasty, writesX, true},
		{"a read, a write and a fault", "drop-reply client=a request=1", readsX, writesX, false},
		{"a server that goes down", "restart 1s client=a request=1", readsX, writesX, true},
		{"a process that dies", "crash client=a request=1", watchesX, writesX, false},
		{"a caller that pauses", "pause 1s client=a request=2", watchesX, writesX, true},
		{"a connection that stalls", "stall 1s client=a request=2", watchesX, writesX, true},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			w := World{Nodes: map[string]string{"/x": "old"}, Plan: parse(t, c.plan),
				Clients: []Actor{actor("a", c.a), actor("b", c.b)}}
			got, runs := everyOrder(t, w)
			w.atOnce = never
			want, all := everyOrder(t, w)
			t.Logf("%d runs of %d show %d of %d", runs, all, len(got), len(want))
			check.List(t, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			if runs >= all {
				t.Errorf("%d runs with replies at once, %d without; want fewer", runs, all)
			}
			w.atOnce = always
			if hasty, _ := everyOrder(t, w); (len(hasty) < len(want)) != c.noticed {
				t.Errorf("%d of %d are left if everything comes at once; noticed: want %v",
					len(hasty), len(want), c.noticed)
			}
		})
	}
}

// TestQuotasAreNotKnown: a write below a path with a quota changes a node below /zookeeper.
func TestQuotasAreNotKnown(t *testing.T) {
	for path, opaque := range map[string]bool{"/zookeeper/quota/x/zookeeper_stats": true, "/x": false} {
		var does touches
		does.add(&proto.GetData{Path: path})
		check.Equal(t, does.opaque, opaque, path)
	}
}
