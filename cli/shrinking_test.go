package cli

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/internal/check"
)

// TestShrinkingIsShown: it takes most of the time of many hunts.
func TestShrinkingIsShown(t *testing.T) {
	var out strings.Builder
	p := command.NewProgress(&out, func() int { return 0 })
	env := envTo(t.Context(), io.Discard, io.Discard)
	env.Progress = p
	p.Phase("at work")
	if _, err := makeSmall(env, []hunt.Finding{
		finding(t, 1, "lock", "zk.Lock", "drop-request client=a op=getChildren2 request=1"),
	}); err != nil {
		t.Error(err)
	}
	exhibits, err := gallery.Named("B3")
	if err == nil {
		err = (&galleryCommand{Seeds: 1, Seed: 1, Runs: 100}).hunt(env, exhibits)
	}
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"\rmaking finding 1 of 1 small", "\rminus-sign-cut-off: exhibit 1 of 1, hunt 1 of 1\r",
		"\rminus-sign-cut-off: exhibit 1 of 1, hunt 1 of 1: making it small after 1 scenario",
	} {
		check.Contains(t, out.String(), want)
	}
}

// envTo is the environment of a command without input.
func envTo(ctx context.Context, stdout, stderr io.Writer) *command.Env {
	return command.NewEnv(ctx, "zksim", nil, stdout, stderr)
}
