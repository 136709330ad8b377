package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// An ended command has its exit status and its output.
type ended struct {
	line           string
	status         int
	stdout, stderr string
}

// zksim runs a command line in this process, with workloads beside those built in.
func zksim(ctx context.Context, line string, own ...scenario.Workload) ended {
	var stdout, stderr strings.Builder
	program := program{name: "zksim", own: own}
	status := program.run(ctx, strings.Fields(line), &stdout, &stderr)
	return ended{line, status, stdout.String(), stderr.String()}
}

// has reports another exit status, and each text that is not in stdout.
func (e ended) has(t *testing.T, status int, texts ...string) {
	t.Helper()
	check.Equal(t, e.status, status, "status of %s, stdout %q, stderr %q", e.line, e.stdout, e.stderr)
	for _, text := range texts {
		check.Contains(t, e.stdout, text, "%s", e.line)
	}
}

// fails reports another exit status, and a last line of stderr that does not end with a text.
func (e ended) fails(t *testing.T, status int, end string) {
	t.Helper()
	e.has(t, status)
	if !strings.HasSuffix(e.stderr, end+"\n") {
		t.Errorf("%s: stderr %q; want it to end with %q", e.line, e.stderr, end)
	}
}

// cancelled is a context that is done.
func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
