package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// TestManyShardsHaveWork: each of a thousand has some of a small hunt in all workloads, and
// together they have all of it.
func TestManyShardsHaveWork(t *testing.T) {
	shards := testrun.Pick(40, 1000)
	const flags = "fuzz all --clients 1 --rounds 1 --json"
	dir := t.TempDir()
	var files []string
	tried := map[string]int{} // scenarios by workload
	for i := range shards {
		got := zksim(t.Context(),
			fmt.Sprintf("%s --runs %d --shard %d/%d", flags, 2*shards, i+1, shards))
		got.has(t, command.ExitOK)
		var part report.Hunts
		check.OK(t, json.Unmarshal([]byte(got.stdout), &part))
		check.Equal(t, part.Runs > 0, true, "shard %d has work", i+1)
		for _, h := range part.Hunts {
			tried[h.Workload+h.Implementation] += h.Runs
		}
		files = append(files, filepath.Join(dir, fmt.Sprint(i)))
		check.OK(t, os.WriteFile(files[i], []byte(got.stdout), 0o666))
	}
	got := zksim(t.Context(), "merge "+strings.Join(files, " "))
	got.has(t, command.ExitOK)
	var whole report.Hunts
	check.OK(t, json.Unmarshal([]byte(got.stdout), &whole))
	check.Equal(t, whole.Runs, 2*shards, "scenarios of all shards")
	for _, h := range whole.Hunts {
		check.Equal(t, h.Runs, tried[h.Workload+h.Implementation], "scenarios of %s", h.Implementation)
	}
	check.Equal(t, len(whole.Hunts), len(tried), "workloads")
}
