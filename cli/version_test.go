package cli

import (
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// TestVersion: a command with this module prints the version of this module.
func TestVersion(t *testing.T) {
	own := debug.Module{Path: "github.com/zksim/zksim", Version: "v1.2.3"}
	other := debug.Module{Path: "example.org/myzksim", Version: "(devel)"}
	for _, c := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{
			"zksim itself", debug.BuildInfo{GoVersion: "go1.26.0", Main: own},
			"zksim: github.com/zksim/zksim v1.2.3, go1.26.0",
		},
		{
			"a command of one's own", debug.BuildInfo{
				GoVersion: "go1.26.0", Main: other, Deps: []*debug.Module{&own},
			}, "zksim: github.com/zksim/zksim v1.2.3, go1.26.0",
		},
		{
			"a tool of a module that replaces zksim", debug.BuildInfo{
				GoVersion: "go1.26.0", Main: other, Deps: []*debug.Module{{
					Path: own.Path, Version: "v0.0.0", Replace: &debug.Module{Path: "../zksim"}}},
			}, "zksim: github.com/zksim/zksim v0.1.0 (replaced), go1.26.0",
		},
		{
			"a module without tags", debug.BuildInfo{
				GoVersion: "go1.26.0", Main: other, Deps: []*debug.Module{{
					Path: own.Path, Version: "v0.0.0"}},
			}, "zksim: github.com/zksim/zksim v0.1.0 (v0.0.0), go1.26.0",
		},
		{
			"a build without version control", debug.BuildInfo{GoVersion: "go1.26.0",
				Main: debug.Module{Path: own.Path, Version: "(devel)"}},
			"zksim: github.com/zksim/zksim v0.1.0 (devel), go1.26.0",
		},
		{
			"a test", debug.BuildInfo{GoVersion: "go1.26.0"},
			"zksim: github.com/zksim/zksim v0.1.0 (unknown version), go1.26.0",
		},
		{
			"a clone", debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{
				Path: own.Path, Version: "v0.0.0-20261128023000-612aa70155aa+dirty"}},
			"zksim: github.com/zksim/zksim v0.1.0 (v0.0.0-20261128023000-612aa70155aa+dirty), go1.26.0",
		},
	} {
		if got := version("zksim", func() (*debug.BuildInfo, bool) {
			return &c.info, true
		}); got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
	}
}

// TestVersionIsPrinted, with status 0.
func TestVersionIsPrinted(t *testing.T) {
	got := zksim(t.Context(), "--version")
	got.has(t, command.ExitOK)
	if !strings.HasPrefix(got.stdout, "zksim: github.com/zksim/zksim ") ||
		strings.Count(got.stdout, "\n") != 1 || got.stderr != "" {
		t.Errorf("%+v; want one line", got)
	}
}

// TestReleaseIsTheFirstOfTheChangelog.
func TestReleaseIsTheFirstOfTheChangelog(t *testing.T) {
	first := regexp.MustCompile(`(?m)^## (\S+)`).FindStringSubmatch(testrun.ReadFile(t, "../CHANGELOG.md"))
	check.Equal(t, first[1], release)
}
