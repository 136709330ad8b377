package conform

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk"
	znode "github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
)

// settings are the settings of the built-in server; realSettings are the same.
var settings = fakezk.Options{
	TickTime:               500 * time.Millisecond,
	MinSessionTimeout:      4 * time.Second, // longer than the pauses of a busy machine
	MaxSessionTimeout:      time.Minute,
	SuperDigest:            SuperDigest,
	EnforceQuota:           true,
	ContainerCheckInterval: -1,
}

func realSettings() realzk.Options {
	return realzk.Options{
		TickTime:          500 * time.Millisecond,
		MinSessionTimeout: 4 * time.Second,
		MaxSessionTimeout: time.Minute,
		Properties: map[string]string{
			"zookeeper.DigestAuthenticationProvider.superDigest": SuperDigest,
			"zookeeper.enforceQuota":                             "true",
			"znode.container.checkIntervalMs":                    "100000000",
		},
	}
}

// fastSettings are for servers that soon delete emptied containers and expire sessions.
func fastSettings() (fakezk.Options, realzk.Options) {
	opts, real := settings, realSettings()
	opts.MinSessionTimeout, real.MinSessionTimeout = time.Second, time.Second
	opts.ContainerCheckInterval = 500 * time.Millisecond
	real.Properties["znode.container.checkIntervalMs"] = "500"
	return opts, real
}

// hasty are the families that wait for the server. They need fastSettings.
var hasty = []string{"expiry", "reaping"}

// slowFamilies returns all other families, and random scripts.
func slowFamilies() []string {
	names := append(Families(), randomFamily)
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(hasty, name) })
}

// randomSeed repeats TestRandomAgainstZooKeeper.
var randomSeed = flag.Uint64("conform.seed", 0,
	"seed of the random comparison with ZooKeeper; 0 draws one")

func fake(t testing.TB, opts fakezk.Options) Target {
	dial := fakezk.Start(t, opts).Dialer()
	return Target{
		Name: "fakezk",
		Dial: func(context.Context) (net.Conn, error) { return dial("tcp", fakezk.Address, 0) },
	}
}

func realTarget(t testing.TB, opts realzk.Options) Target {
	return Target{Name: "ZooKeeper", Address: realzk.Start(t, opts).Address()}
}

// wantEqual compares two servers and fails the test with every difference.
func wantEqual(t *testing.T, a, b Target, opts Options) *Report {
	t.Helper()
	report, err := Compare(t.Context(), a, b, opts)
	for _, d := range slices.Concat(report.Differences, report.Unrepeated) {
		t.Errorf("%s", report.Explain(d))
	}
	t.Logf("\n%s", report.Table())
	if err != nil {
		t.Error(err)
	}
	return report
}

func TestFamiliesAgainstItself(t *testing.T) {
	t.Parallel()
	opts, _ := fastSettings()
	for name, run := range map[string]struct {
		server fakezk.Options
		opts   Options
	}{
		"not hasty": {
			settings, Options{Fresh: true, Families: slowFamilies(), Ops: testrun.Pick(500, 2000)},
		},
		"hasty": {opts, Options{Fresh: true, Families: hasty}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				report := wantEqual(t, fake(t, run.server), fake(t, run.server), run.opts)
				for _, f := range report.Families {
					if f.Skipped > 0 || f.Operations == 0 {
						t.Errorf("%s: %d skipped (%s), %d operations",
							f.Name, f.Skipped, f.SkippedFor, f.Operations)
					}
				}
			})
		})
	}
}

// TestFamiliesAgainstZooKeeper has a test for each family, all on one pair of servers: the
// zxids of a script do not depend on the scripts before it.
func TestFamiliesAgainstZooKeeper(t *testing.T) {
	t.Parallel()
	fakeAll, realAll := fake(t, settings), realTarget(t, realSettings())
	for i, family := range Families() {
		if slices.Contains(hasty, family) {
			continue
		}
		t.Run(family, func(t *testing.T) {
			wantEqual(t, fakeAll, realAll, Options{Fresh: i == 0, Families: []string{family}})
		})
	}
}

func TestWaitingAgainstZooKeeper(t *testing.T) {
	t.Parallel()
	opts, real := fastSettings()
	report := wantEqual(
		t, fake(t, opts), realTarget(t, real), Options{Fresh: true, Families: hasty},
	)
	for _, f := range report.Families {
		if f.Skipped > 0 {
			t.Errorf("%s: skipped", f.Name)
		}
	}
}

// TestRandomAgainstZooKeeper plays a fixed seed and then, on the same servers, a random
// one. To repeat the random one:
//
//	go test ./fakezk/conform -run RandomAgainst -conform.seed=N
func TestRandomAgainstZooKeeper(t *testing.T) {
	t.Parallel()
	ops := testrun.Pick(700, 20_000)
	seed := *randomSeed
	for seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("to repeat it: go test ./fakezk/conform -run RandomAgainst -conform.seed=%d", seed)
	a, b := fake(t, settings), realTarget(t, realSettings())
	wantEqual(t, a, b, Options{Fresh: true, Families: []string{randomFamily}, Ops: ops, Seed: 1})
	wantEqual(t, a, b, Options{Families: []string{randomFamily}, Ops: ops, Seed: seed})
}

// put creates nodes with some data.
func put(t *testing.T, s *fakezk.Server, paths ...string) {
	t.Helper()
	for _, path := range paths {
		check.OK(t, s.Put(path, []byte("x")))
	}
}

// TestServersThatAreNotFresh compares servers that have had clients, and have data that
// must not change.
func TestServersThatAreNotFresh(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		a, b := fakezk.Start(t, settings), fakezk.Start(t, settings)
		a.Connect(t)
		put(t, a, "/mine", "/mine/too", "/and")
		put(t, b, "/others")
		before := [][]znode.Node{a.Tree(), b.Tree()}
		report := wantEqual(t, targetOf(a), targetOf(b),
			Options{Families: slowFamilies(), Ops: testrun.Pick(300, 1000)})
		if f := report.Families[0]; f.Skipped == 0 || f.Operations > 0 {
			t.Errorf("the family fresh was played: %+v", f)
		}
		for i, s := range []*fakezk.Server{a, b} {
			check.Diff(t, nodes(s.Tree()), nodes(before[i]))
		}
		_, err := Compare(t.Context(), targetOf(a), targetOf(b), Options{Fresh: true})
		check.Contains(t, fmt.Sprint(err), "not a fresh server", "with Options.Fresh")
	})
}

// nodes returns the data of a tree by path.
func nodes(tree []znode.Node) map[string]string {
	m := map[string]string{}
	for _, n := range tree {
		m[n.Path] = string(n.Data)
	}
	return m
}

func TestCompareFails(t *testing.T) {
	good := fake(t, settings)
	plain := settings
	plain.SuperDigest = ""
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		b    Target
		opts Options
		want string
	}{
		{
			"no such family", t.Context(), good, Options{Families: []string{"stats"}},
			`there is no family "stats"; expected one of fresh, `,
		},
		{"no superuser", t.Context(), fake(t, plain), Options{}, "superDigest=super:"},
		{
			"no server", t.Context(), Target{Address: "127.0.0.1:1"}, Options{},
			"connect to 127.0.0.1:1",
		},
		{"interrupted", ctx, good, Options{}, "canceled"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compare(test.ctx, good, test.b, test.opts)
			check.Contains(t, fmt.Sprint(err), test.want)
		})
	}
}

func TestProgressGrows(t *testing.T) {
	var calls []Progress
	report := wantEqual(t, fake(t, settings), fake(t, settings), Options{
		Families: []string{"stat", "zxids"}, Progress: func(p Progress) {
			calls = append(calls, p)
		},
	})
	scripts := report.Families[0].Scripts + report.Families[1].Scripts
	sorted := slices.IsSortedFunc(calls,
		func(a, b Progress) int { return a.Operations - b.Operations })
	if len(calls) != scripts || !sorted || calls[len(calls)-1].Family != "zxids" {
		t.Errorf("got %+v for %d scripts", calls, scripts)
	}
}
