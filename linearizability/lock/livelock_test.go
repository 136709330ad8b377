package lock

import (
	"fmt"
	"strings"
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestLivelock(t *testing.T) {
	// tries lets a and b in turn make and delete n znodes, after begin. More steps follow some of
	// these.
	tries := func(begin string, n int, after map[int]string) string {
		steps := []string{begin}
		for i := range n {
			client := string(rune('a' + i%2))
			steps = append(steps, fmt.Sprintf("%[1]s owns %[1]s-%[2]d; %[1]s deletes %[1]s-%[2]d", client, i),
				after[i])
		}
		return strings.Join(steps, ";")
	}
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "free all the time", Bad: lin.Liveness,
			Says: "from step 3 to 201 clients made 100 znodes for the lock, which was free, " +
				"and none of them was granted it: a made 50, b made 50",
			Steps: tries("a lock(); b lock()", 100, nil)},
		{Name: "granted now and then", Steps: tries("", 200, map[int]string{
			0: "c locks c-0; c unlocks c-0", 90: "c locks c-90; c unlocks c-90",
			180: "c locks c-180; c unlocks c-180"})},
		{Name: "held", Steps: tries("c locks c-0; a lock(); b lock()", 100, nil) + "; rest c-0",
			Build: ownersAreKnown},
		{Name: "disturbed",
			Steps: tries("", 100, map[int]string{50: "a told disconnected"})},
	})
}
