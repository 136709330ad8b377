package hunt

import (
	"testing"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// TestScenariosLeaveConnectionsToOthers: those of one machine have 60 at each server.
func TestScenariosLeaveConnectionsToOthers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ clients, servers, want int }{
		{3, 1, 12}, {5, 1, 8}, {3, 3, 16}, {8, 3, 16}, {100, 1, 1}, {1, 0, 16},
	} {
		s := scenario.Script{Clients: test.clients, Servers: test.servers}
		check.Equal(t, workersOnEnsemble(s), test.want, "%d clients, %d servers", test.clients,
			test.servers)
	}
}
