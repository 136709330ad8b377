package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// onRealServer are the scenarios whose bug shows on a real ZooKeeper, too. The libraries are as
// their authors publish them, and connect by TCP to a proxy that injects the faults.
var onRealServer = []string{
	"vault-held-without-leader", "lock-left-behind-go-zookeeper", "lock-left-behind-samuel",
	"lock-left-behind-dubbogo", "go-kit-never-deregisters", "vault-left-behind",
	"lock-lost-unlock-go-zookeeper", "lock-lost-unlock-samuel", "lock-lost-unlock-dubbogo",
	"go-kit-instancer-stops-after-an-error",
}

// inRealTime are those whose library has times of its own: the clock and the World go equally fast.
var inRealTime = []string{"prometheus-keeps-a-gone-target"}

func TestScenariosShowOnARealServer(t *testing.T) {
	if !testrun.Full() {
		t.Skip("it takes nine minutes; run it by: go test -C wild . -full -timeout 30m")
	}
	showOnARealServer(t, 8, onRealServer)
	showOnARealServer(t, 1, inRealTime)
}

// showOnARealServer plays scenarios at a pace: the number of virtual seconds in a second.
func showOnARealServer(t *testing.T, pace int, names []string) {
	server := realzk.Start(t, realzk.Options{
		TickTime: 2 * time.Second / time.Duration(pace),
		Properties: map[string]string{
			"zookeeper.DigestAuthenticationProvider.superDigest": realworld.SuperDigest,
		},
		JVMFlags: []string{"-Xmx64m"},
	})
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			file, err := saved.Load(filepath.Join("testdata", name+".yaml"),
				scenario.Catalogue(libraries()).Find)
			if err != nil {
				t.Fatal(err)
			}
			o, err := file.Scenario.RunReal(t.Context(), server, pace)
			if err != nil {
				t.Fatal(err)
			}
			// A real run may end before a client counts as stuck; then its znode is an orphan.
			stuck := file.Property == linearizability.Liveness &&
				o.Property() == linearizability.Orphans
			if o.Property() != file.Property && !stuck {
				t.Errorf("%s %q; want a violation of %s: %s\n%s", o.Status(), o.Property(),
					file.Property, o.Summary(), o.Story())
			}
			if len(file.Scenario.Plan) == 0 {
				return // the bug shows without faults
			}
			control := file.Scenario
			control.Plan = nil
			o, err = control.RunReal(t.Context(), server, pace)
			if err != nil {
				t.Fatal(err)
			}
			if o.Property() != "" {
				t.Errorf("without faults: %s", o.Summary())
			}
		})
	}
}
