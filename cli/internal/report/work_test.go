package report

import (
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/internal/check"
)

// TestReportsOfAnotherBuildDoNotGoTogether: the same flags play other scenarios there.
func TestReportsOfAnotherBuildDoNotGoTogether(t *testing.T) {
	info := func(version, commit, changed string) *debug.BuildInfo {
		return &debug.BuildInfo{
			GoVersion: "go1.26.8", Main: debug.Module{Path: "example.org/lock", Version: "(devel)"},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: commit},
				{Key: "vcs.modified", Value: changed}},
			Deps: []*debug.Module{{Path: "github.com/zksim/zksim", Version: version}},
		}
	}
	one := build(info("v0.1.0", "0123456789abcdef", "false"), true)
	check.Equal(t, one,
		"a build of example.org/lock (devel) at 0123456789ab, github.com/zksim/zksim v0.1.0, go1.26.8")
	for _, other := range []string{
		build(info("v0.1.1", "0123456789abcdef", "false"), true),
		build(info("v0.1.0", "0123456789abcdef", "true"), true),
		build(info("v0.1.0", "fedcba9876543210", "false"), true),
		build(nil, false),
	} {
		err := hunt.SameWork("--runs=1; "+other, "--runs=1; "+one)
		check.Equal(t, fmt.Sprint(err), "it is about "+other+", and not about "+one)
	}
	check.OK(t, hunt.SameWork("--runs=1; "+one, "--runs=1; "+one))
	replaced := info("v0.1.0", "0", "false")
	replaced.Deps[0].Replace = &debug.Module{Path: "../zksim"}
	check.Contains(t, build(replaced, true), ", ../zksim, go1.26.8, program ")
	check.Contains(t, build(info("v0.1.0", "0", "true"), true), " with changes, ")
	check.Contains(t, build(info("v0.1.0", "0", "true"), true), ", program ")
}
