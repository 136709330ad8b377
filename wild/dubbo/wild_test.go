package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
)

// TestScenariosStillShow the bugs, with equal traces in two runs.
func TestScenariosStillShow(t *testing.T) {
	if !sim.Overlaid {
		t.Skip("dubbo-go connects by itself; run it by: zksim go test -C wild/dubbo .")
	}
	for _, name := range []string{"deaf-after-a-lost-connection", "deletes-its-own-provider",
		"keeps-a-gone-provider"} {
		var traces [2]string
		for i := range traces {
			r, err := load(t, name).Check(false)
			check.OK(t, err)
			check.Equal(t, len(r.Problems), 0, "%s: %q", name, r.Problems)
			traces[i] = r.Outcome.Result.Trace.Hash()
		}
		check.Equal(t, traces[0], traces[1], "two runs of %s", name)
	}
}

// TestScenariosShowOnARealServer, at two virtual seconds in a second: dubbo-go has fixed times. The
// control is a run without the fault.
func TestScenariosShowOnARealServer(t *testing.T) {
	if !testrun.Full() {
		t.Skip("it takes five minutes; run it by: go test -C wild/dubbo . -full")
	}
	const pace = 2
	server := realzk.Start(t, realzk.Options{TickTime: 2 * time.Second / pace,
		Properties: map[string]string{
			"zookeeper.DigestAuthenticationProvider.superDigest": realworld.SuperDigest,
		}})
	for _, name := range []string{"deaf-after-a-lost-connection", "deletes-its-own-provider"} {
		file := load(t, name)
		for _, want := range []string{file.Property, ""} {
			o, err := file.Scenario.RunReal(t.Context(), []realworld.Server{server}, pace)
			check.OK(t, err)
			check.Equal(t, o.Property(), want, "%s: %s", name, o.Story())
			file.Scenario.Plan = nil
		}
	}
}

func load(t *testing.T, name string) saved.File {
	t.Helper()
	file, err := saved.Load(filepath.Join("testdata", name+".yaml"),
		scenario.Catalogue{dubboRegistry()}.Find)
	check.OK(t, err)
	return file
}
