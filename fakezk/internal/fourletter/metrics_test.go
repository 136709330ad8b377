package fourletter_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/fourletter"
)

// TestMonitorsReadMetrics parses like metrics exporters: a key, a tab and a number.
func TestMonitorsReadMetrics(t *testing.T) {
	seen := map[string]bool{}
	for l := range strings.Lines(newFake(t).word("mntr")) {
		key, value, ok := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
		if !ok || !strings.HasPrefix(key, "zk_") || seen[key] {
			t.Errorf("%q is not a metric, or its key is repeated", l)
		}
		seen[key] = true
		if key == "zk_version" || key == "zk_server_state" {
			continue
		}
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if !strings.HasPrefix(fourletter.Version, "3.8.0-") {
		t.Errorf("version %q", fourletter.Version)
	}
}
