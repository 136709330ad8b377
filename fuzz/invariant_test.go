package fuzz_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/linearizability"
)

// announce is code as a user may have it: whoever makes /primary first serves. A
// careless one does not look, after an error, whether it did.
func announce(conn *zk.Conn, name string, careless bool) (primary bool, err error) {
	for {
		_, err := conn.Create("/primary", []byte(name), 0, zk.WorldACL(zk.PermAll))
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, zk.ErrNodeExists) && careless:
			return false, nil
		case errors.Is(err, zk.ErrNodeExists):
			data, _, err := conn.Get("/primary")
			return string(data) == name, err
		case !errors.Is(err, zk.ErrConnectionClosed):
			return false, err
		}
	}
}

const lostReply = "a reply to create was lost"

// primaries is a workload with invariants and goals of its own: after it, the one
// who is written there is the one who serves.
func primaries(careless bool, goals ...string) fuzz.Workload {
	return fuzz.Workload{
		Name: "primary", Impl: fmt.Sprintf("careless: %v", careless), Sometimes: goals,
		Play: func(p *fuzz.Player, _ fuzz.Script) {
			p.Persist(func(int) error {
				return p.Do("announce", "", func(context.Context) (linearizability.Result, error) {
					start := time.Now()
					primary, err := announce(p.Conn(), p.Name(), careless)
					if time.Since(start) > 50*time.Millisecond {
						p.Sometimes(lostReply)
					}
					return linearizability.Result{Output: fmt.Sprint(primary)}, err
				})
			})
		},
		Judge: fuzz.Invariants(fuzz.Invariant{Name: "who is written there serves", Holds: func(e fuzz.Evidence) error {
			for _, op := range e.History.Ops {
				for _, ev := range e.History.Server {
					if ev.Path == "/primary" && ev.Data == op.Client && op.Outcome == linearizability.OpOK && op.Output != "true" {
						return fmt.Errorf("client %s is written there, and was told that it is not", op.Client)
					}
				}
			}
			return nil
		}}),
	}
}

func TestRunChecksInvariants(t *testing.T) {
	t.Chdir(t.TempDir())
	setFlag(t, "zksim.runs", "50")
	good := result("TestPrimary", func(t fuzz.TB) { fuzz.Run(t, primaries(false, lostReply)) })
	if good.failed {
		t.Errorf("the careful one fails:\n%s", strings.Join(good.log, "\n"))
	}
	bad := result("TestPrimary", func(t fuzz.TB) { fuzz.Run(t, primaries(true)) })
	if text := strings.Join(bad.log, "\n"); !bad.failed || !strings.HasPrefix(text, "invariant is violated: who is written there serves: client a is written there") {
		t.Errorf("the careless one: failed: %v\n%s", bad.failed, text)
	}
}

// TestRunWantsItsGoals: a test that never sees what it is about fails.
func TestRunWantsItsGoals(t *testing.T) {
	setFlag(t, "zksim.runs", "20")
	tb := result("TestPrimary", func(t fuzz.TB) { fuzz.Run(t, primaries(false, lostReply, "the moon is full")) })
	text := strings.Join(tb.log, "\n")
	if !tb.failed || !strings.Contains(text, `the goal "the moon is full" was reached in none of`) || strings.Contains(text, lostReply) {
		t.Errorf("failed: %v\n%s", tb.failed, text)
	}
}

// TestSavedFailuresComeFirst: what failed last time is tried before anything else,
// and told when it is mended.
func TestSavedFailuresComeFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	bad := result("TestPrimary", func(t fuzz.TB) { fuzz.Run(t, primaries(true)) })
	file := filepath.Join("testdata", "zksim", "TestPrimary.yaml")
	if _, err := os.Stat(file); err != nil || !bad.failed {
		t.Fatal(bad.failed, err)
	}
	setFlag(t, "zksim.runs", "1")
	played := 0
	counted := primaries(true)
	judge := counted.Judge
	counted.Judge = func(e fuzz.Evidence) (linearizability.Report, error) { played++; return judge(e) }
	again := result("TestPrimary", func(t fuzz.TB) { fuzz.Run(t, counted) })
	if !again.failed || played > 60 { // the scenario, and the steps of making it small
		t.Errorf("failed: %v after %d runs; expected the saved scenario first", again.failed, played)
	}
	counted = primaries(true)
	counted.Judge = fuzz.Invariants()
	mended := result("TestPrimary", func(t fuzz.TB) { fuzz.Run(t, counted) })
	if text := strings.Join(mended.log, "\n"); mended.failed || !strings.Contains(text, "TestPrimary.yaml shows nothing any more") {
		t.Errorf("failed: %v\n%s", mended.failed, text)
	}
	if err := os.WriteFile(file, []byte("frob"), 0o666); err != nil {
		t.Fatal(err)
	}
	broken := result("TestPrimary", func(t fuzz.TB) { fuzz.Run(t, counted) })
	if text := strings.Join(broken.log, "\n"); broken.failed || !strings.Contains(text, "what was saved cannot be tried again") {
		t.Errorf("failed: %v\n%s", broken.failed, text)
	}
}

func FuzzPrimary(f *testing.F) { fuzz.Fuzz(f, primaries(false)) }
