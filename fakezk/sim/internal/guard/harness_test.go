package guard

import (
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// TestTheHarnessIsExempt: neither its messages nor its goroutines end a run.
func TestTheHarnessIsExempt(t *testing.T) {
	moment := func() trace.Moment { return trace.AfterEnd }
	for _, harness := range []bool{false, true} {
		g := New(moment, 1000, 1)
		c := g.Client("a", harness)
		for range 4 {
			c.Sent(make([]byte, maxBytes/4))
		}
		check.Equal(t, g.OutOfBounds(time.Second), !harness, "harness: %v", harness)
	}
	const begun = "goroutine 1 [select, synctest bubble 7]:\nf()\n\t/a.go:3 +0x1\ncreated by "
	stacks := strings.Join([]string{
		begun + "github.com/zksim/zksim/fakezk/sim.(*Client).start in goroutine 1\n\t/b.go:1",
		begun + "github.com/zksim/zksim/fakezk/internal/memnet.New in goroutine 1\n\t/c.go:1",
		begun + "github.com/go-zookeeper/zk.ConnectWithDialer in goroutine 1\n\t/d.go:1",
		begun + "example.com/mine.Begin in goroutine 1\n\t/e.go:1",
		begun + "github.com/zksim/zksim/fakezk/sim_test.begin in goroutine 1\n\t/f.go:1",
	}, "\n\n")
	g := New(moment, 1000, 1)
	g.Begin("synctest bubble 7")
	n, _ := g.goroutines(stacks)
	check.Equal(t, n, 3)
}
