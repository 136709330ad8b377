package conform

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// TestWrongEndsAreFound plays one script for each fault. The difference is a missing frame,
// or is at the end of the script.
func TestWrongEndsAreFound(t *testing.T) {
	t.Parallel()
	hasty, _ := fastSettings()
	tests := []struct {
		name, script, want string
		fault              fault
	}{
		{
			"a connection does not end", "a op 50", "no answer",
			func(c *mutantConn) { c.end = c.neverEnds },
		},
		{"a connection ends too late", "a closeSession\na attach", "no answer", endsWhenAsked()},
		{
			"a connection that is taken over does not end", "a create $/a\na attach",
			"old connection: no answer", keepOpen(),
		},
		{
			"an event of a close at the end is lost",
			"a create $/e flags=1\nb exists $/e watch", "b: event NodeDeleted",
			each(ofEvent(proto.EventDeleted, func([]byte) [][]byte { return nil })),
		},
		{
			"a close at the end is refused",
			"a create $/a", "close a: closeSession: xid 2, zxid +3, NoNode",
			each(ofOp(proto.OpCloseSession, func(h *proto.ReplyHeader) { h.Err = proto.NoNode })),
		},
		{
			"an event at expiry has another type",
			"a connect timeout=1\na create $/e flags=1\na exists $/e watch\na expire",
			"event NodeCreated",
			each(ofEvent(proto.EventDeleted, func(p []byte) [][]byte {
				return [][]byte{replaced(p, 16, []byte{0, 0, 0, 1})}
			})),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				diff := playOnce(t, fake(t, hasty), mutant(t, hasty, test.fault), test.script).diff
				if diff == nil {
					t.Fatal("no difference")
				}
				lines := slices.Concat(diff.B, diff.A)
				check.Contains(t, strings.Join(lines, "\n"), test.want, "got %+v", diff)
			})
		})
	}
}

// playOnce plays a script on two servers, with a patience of 3 s.
func playOnce(t *testing.T, a, b Target, text string) played {
	t.Helper()
	scripts, err := parseFamily("test", "== test\n"+text)
	check.OK(t, err)
	a.patience, b.patience = 3*time.Second, 3*time.Second
	p, err := newPair(t.Context(), a, b, false)
	check.OK(t, err)
	defer p.close(t.Context())
	seen, err := p.play(t.Context(), scripts[0])
	check.OK(t, err)
	return seen
}
