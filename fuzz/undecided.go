package fuzz

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// undecidedBy says why nothing is known of a run without a violation: it was not tried to its end,
// or a judge gave up. It is "" if the run is right.
func undecidedBy(o *scenario.Outcome) string {
	if o.Status() == linearizability.Unknown {
		return o.Summary()
	}
	return scenario.EndedByGuard(o.Result)
}

// undecided collects the inputs of a fuzz target of which nothing is known. The engine discards the
// output of the processes that it starts. So each of them adds its inputs to a file, for the
// process of the engine.
type undecided struct {
	file   string
	worker bool
	tried  int // inputs, by this process
	whys   []string
}

func newUndecided(worker bool) *undecided {
	engine := os.Getpid()
	if worker {
		engine = os.Getppid()
	}
	return &undecided{worker: worker,
		file: filepath.Join(notesDir, fmt.Sprintf(".undecided-%d", engine))}
}

// skip notes that nothing is known of an input, and skips the input.
func (u *undecided) skip(t *testing.T, why string) {
	t.Helper()
	u.whys = append(u.whys, why)
	if u.worker { // a note that cannot be written is left out
		f, err := os.OpenFile(u.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		if err == nil {
			_, _ = fmt.Fprintln(f, strings.ReplaceAll(why, "\n", " "))
			_ = f.Close()
		}
	}
	t.Skipf("zksim: undecided: %s", why)
}

// tell prints how many inputs are undecided, also of the other processes. The test fails if this
// process has tried some, and all are.
func (u *undecided) tell(f *testing.F, to io.Writer) {
	f.Helper()
	if u.worker {
		return
	}
	whys := u.whys
	if text, err := os.ReadFile(u.file); err == nil {
		whys = append(whys, strings.Split(strings.TrimSpace(string(text)), "\n")...)
		_ = os.Remove(u.file)
	}
	switch {
	case len(whys) == 0:
	case u.tried > 0 && len(whys) == u.tried:
		f.Fatalf("zksim: nothing could be decided in any of %d inputs: %s", len(whys), whys[0])
	default:
		fmt.Fprintf(to, "zksim: %s: %d inputs are undecided; the first: %s\n",
			f.Name(), len(whys), whys[0])
	}
}
