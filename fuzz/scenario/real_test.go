package scenario_test

import (
	"context"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
)

func TestRealRunNeedsAServer(t *testing.T) {
	s := scenario.Scenario{Workload: fuzztest.Builtin(t, "lock", ""), Script: scenario.DefaultScript}
	if _, err := s.RunReal(context.Background(), nil, 0); err == nil ||
		!strings.Contains(err.Error(), "no server is given") {
		t.Errorf("without a server: %v", err)
	}
	s.Script.Clients = 0
	if _, err := s.RunReal(context.Background(), nil, 0); err == nil ||
		!strings.Contains(err.Error(), "clients: 0") {
		t.Errorf("without clients: %v", err)
	}
}
