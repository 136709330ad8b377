package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
)

// TestScenariosStillShow the bugs, with equal traces in two runs.
func TestScenariosStillShow(t *testing.T) {
	if !sim.Overlaid {
		t.Skip("dubbo-go connects by itself; run it by: zksim go test -C wild/dubbo .")
	}
	names, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) {
			file := load(t, name)
			var traces []string
			for range 2 {
				r, err := file.Check(false)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range r.Problems {
					t.Error(p)
				}
				traces = append(traces, r.Outcome.Result.Trace.Hash())
			}
			if traces[0] != traces[1] {
				t.Error("two runs differ")
			}
		})
	}
}

// TestScenariosShowOnARealServer, at two virtual seconds in a second: dubbo-go has fixed times. The
// control is a run without the fault.
func TestScenariosShowOnARealServer(t *testing.T) {
	if !testrun.Full() {
		t.Skip("it takes five minutes; run it by: go test -C wild/dubbo . -full")
	}
	const pace = 2
	server := realzk.Start(t, realzk.Options{
		TickTime: 2 * time.Second / pace,
		Properties: map[string]string{
			"zookeeper.DigestAuthenticationProvider.superDigest": realworld.SuperDigest,
		},
		JVMFlags: []string{"-Xmx64m"},
	})
	for _, name := range []string{"deaf-after-a-lost-connection", "deletes-its-own-provider"} {
		t.Run(name, func(t *testing.T) {
			file := load(t, filepath.Join("testdata", name+".yaml"))
			for _, want := range []string{file.Property, ""} {
				o, err := file.Scenario.RunReal(t.Context(), []realworld.Server{server}, pace)
				if err != nil {
					t.Fatal(err)
				}
				if o.Property() != want {
					t.Errorf("%s %q; want %q: %s\n%s", o.Status(), o.Property(), want,
						o.Summary(), o.Story())
				}
				file.Scenario.Plan = nil
			}
		})
	}
}

func load(t *testing.T, name string) saved.File {
	t.Helper()
	file, err := saved.Load(name, scenario.Catalogue{dubboRegistry()}.Find)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
