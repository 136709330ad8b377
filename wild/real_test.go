package main

import (
	"errors"
	"maps"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	gost "github.com/dubbogo/gost/database/kv/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// onRealServer are the scenarios that show their bug on a real ZooKeeper, too. The libraries are as
// their authors publish them, and connect by TCP to a proxy that injects the faults.
var onRealServer = []string{
	"vault-held-without-leader", "lock-left-behind-go-zookeeper", "lock-left-behind-samuel",
	"lock-left-behind-dubbogo", "go-kit-never-deregisters", "vault-left-behind",
	"lock-lost-unlock-go-zookeeper", "lock-lost-unlock-samuel", "lock-lost-unlock-dubbogo",
	"go-kit-instancer-stops-after-an-error", "lock-left-behind-z-division",
	"lock-lost-unlock-z-division", "dapr-creates-no-key", "vitess-stop-never-returns",
	"kvtools-locked-without-owner", "kvtools-put-writes-nothing", "libkv-locked-without-owner",
	"libkv-holder-not-told", "comcast-left-behind", "comcast-resigned-in-vain",
	"hertz-refused-by-own-node", "kazoo-go-refused-by-own-node", "curator-go-error-leaks-node",
	"curator-go-failed-release-forgotten",
}

// inRealTime are the scenarios of libraries that have fixed times: the clock and the World go
// equally fast.
var inRealTime = []string{"prometheus-keeps-a-gone-target", "topicctl-taken-for-nobody"}

// slower are those with an outage that at pace 8 would be shorter than a session, with a delay that
// would be shorter than what goes on meanwhile, or with a verdict that a busy machine often spoils.
var slower = []string{"kvtools-watch-misses-a-change", "libkv-watch-misses-a-change",
	"hertz-registered-once", "kazoo-go-registered-once"}

func TestScenariosShowOnARealServer(t *testing.T) {
	if !testrun.Full() {
		t.Skip("it takes half an hour; run it by: go test -C wild . -full -timeout 2h")
	}
	showOnARealServer(t, 8, onRealServer)
	showOnARealServer(t, 2, slower)
	showOnARealServer(t, 1, inRealTime)
}

// showOnARealServer plays scenarios at a pace: the number of virtual seconds in a second.
func showOnARealServer(t *testing.T, pace int, names []string) {
	server := startReal(t, pace)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			file := load(t, name)
			o := playReal(t, file.Scenario, server, pace)
			if o.Property() != file.Property {
				t.Errorf("%s %q; want a violation of %s: %s\n%s", o.Status(), o.Property(),
					file.Property, o.Summary(), o.Story())
			}
			if len(file.Scenario.Plan) == 0 {
				return // the bug shows without faults
			}
			control := file.Scenario
			control.Plan = nil
			if o := playReal(t, control, server, pace); o.Status() != linearizability.OK {
				t.Errorf("without faults: %s: %s", o.Status(), o.Summary())
			}
		})
	}
}

// playReal plays a scenario, and again if the machine was too busy for a verdict.
func playReal(t *testing.T, s scenario.Scenario, server *realzk.Server, pace int) (
	o *scenario.Outcome,
) {
	t.Helper()
	for range 4 {
		var err error
		if o, err = s.RunReal(t.Context(), []realworld.Server{server}, pace); err != nil {
			t.Fatal(err)
		}
		if o.Status() != linearizability.Unknown {
			break
		}
		t.Logf("played again: %s", o.Summary())
	}
	return o
}

func startReal(t *testing.T, pace int) *realzk.Server {
	t.Helper()
	return realzk.Start(t, realzk.Options{
		TickTime: 2 * time.Second / time.Duration(pace),
		Properties: map[string]string{
			"zookeeper.DigestAuthenticationProvider.superDigest": realworld.SuperDigest,
		},
		JVMFlags: []string{"-Xmx64m"},
	})
}

func load(t *testing.T, name string) saved.File {
	t.Helper()
	file, err := saved.Load(filepath.Join("testdata", name+".yaml"),
		scenario.Catalogue(libraries()).Find)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestConfdSpinsOnARealServer from the end of its session on. The control is a run without faults,
// in which it spins for less than a millisecond at a time.
func TestConfdSpinsOnARealServer(t *testing.T) {
	if !testrun.Full() {
		t.Skip("it takes a processor; run it by: go test -C wild . -run Confd -full")
	}
	const pace = 8
	server := startReal(t, pace)
	expiry, err := fault.Parse("expire client=a at=20s")
	if err != nil {
		t.Fatal(err)
	}
	for name, plan := range map[string][]fault.Fault{"control": nil, "expiry": {expiry}} {
		played := load(t, "confd-spins").Scenario
		played.Plan, played.Script.Clients, played.Script.Rounds = plan, 2, 2
		ended, spins := make(chan error), 0
		go func() {
			_, err := played.RunReal(t.Context(), []realworld.Server{server}, pace)
			ended <- err
		}()
		for err = errors.New("under way"); err != nil; {
			spins = max(spins, neverWaits("zookeeper.(*Client).watch("))
			select {
			case err = <-ended:
				if err != nil {
					t.Fatal(err)
				}
			default:
			}
		}
		if (spins > 0) != (plan != nil) {
			t.Errorf("%s: %d goroutines spin", name, spins)
		}
	}
}

// TestGostSpinsOnARealServer: the handler of a closed client is never seen to wait; that of an open
// one is the control. It is the last test, as the closed client's takes a processor from then on.
func TestGostSpinsOnARealServer(t *testing.T) {
	if !testrun.Full() {
		t.Skip("it takes a processor; run it by: go test -C wild . -run Gost -full")
	}
	const pace = 8
	server := startReal(t, pace)
	open, err := gost.NewZookeeperClient("open", []string{server.Address()}, false,
		gost.WithZkTimeOut(4*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(open.Close)
	if n := neverWaits(".HandleZkEvent("); n != 0 {
		t.Errorf("%d handlers spin before the run", n)
	}
	file := load(t, "gost-spins-after-close")
	o, err := file.Scenario.RunReal(t.Context(), []realworld.Server{server}, pace)
	if err != nil {
		t.Fatal(err)
	}
	if o.Property() != "" {
		t.Errorf("%s is violated besides: %s", o.Property(), o.Summary())
	}
	if n := neverWaits(".HandleZkEvent("); n != 1 {
		t.Errorf("%d handlers spin after the run; want that of the closed client", n)
	}
}

// neverWaits counts the goroutines in a function that are ready to run in each of many samples.
func neverWaits(function string) int {
	const samples = 100
	ready := map[string]int{}
	for range samples {
		time.Sleep(time.Millisecond)
		buf := make([]byte, 1<<20)
		for stack := range trace.Stacks(string(buf[:runtime.Stack(buf, true)])) {
			if strings.Contains(stack, function) && trace.ActivityOf(stack) == trace.Runs {
				name, _, _ := strings.Cut(stack, "[")
				ready[name]++
			}
		}
	}
	maps.DeleteFunc(ready, func(_ string, times int) bool { return times < samples })
	return len(ready)
}
