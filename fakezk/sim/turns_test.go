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

func writesX(_ context.Context, c *Client) {
	_, err := c.Conn().Set("/x", []byte("new"), -1)
	c.Note("write: %v", err)
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

// TestQuotasAreNotKnown: a write below a path with a quota changes a node below /zookeeper.
func TestQuotasAreNotKnown(t *testing.T) {
	for path, opaque := range map[string]bool{"/zookeeper/quota/x/zookeeper_stats": true, "/x": false} {
		var does touches
		does.add(&proto.GetData{Path: path})
		check.Equal(t, does.opaque, opaque, path)
	}
}
