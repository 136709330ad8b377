package conform

import (
	"context"
	"flag"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zksim/zksim/fakezk"
	znode "github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/realzk"
)

// settings are those of the built-in server; realSettings are the same.
var settings = fakezk.Options{
	TickTime:               500 * time.Millisecond,
	MinSessionTimeout:      4 * time.Second, // longer than a busy machine stands still
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

// hastySettings make a server that soon deletes emptied containers and forgets
// sessions.
func hastySettings() (fakezk.Options, realzk.Options) {
	opts, real := settings, realSettings()
	opts.MinSessionTimeout, real.MinSessionTimeout = time.Second, time.Second
	opts.ContainerCheckInterval = 500 * time.Millisecond
	real.Properties["znode.container.checkIntervalMs"] = "500"
	return opts, real
}

// hasty are the families that wait, for the servers of hastySettings.
var hasty = []string{"expiry", "reaping"}

// patient are all other families and random scripts.
func patient() []string {
	names := append(Families(), randomFamily)
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(hasty, name) })
}

// randomSeed repeats TestRandomAgainstZooKeeper.
var randomSeed = flag.Uint64("conform.seed", 0, "seed of the random comparison with ZooKeeper; 0 draws one")

func fake(t testing.TB, opts fakezk.Options) Target {
	dial := fakezk.Start(t, opts).Dialer()
	return Target{Name: "fakezk", Dial: func(context.Context) (net.Conn, error) { return dial("tcp", fakezk.Address, 0) }}
}

func genuine(t testing.TB, opts realzk.Options) Target {
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
	opts, _ := hastySettings()
	for name, run := range map[string]struct {
		a, b Target
		opts Options
	}{
		"patient": {fake(t, settings), fake(t, settings), Options{Fresh: true, Families: patient(), Ops: 2000}},
		"hasty":   {fake(t, opts), fake(t, opts), Options{Fresh: true, Families: hasty}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range wantEqual(t, run.a, run.b, run.opts).Families {
				if f.Skipped > 0 || f.Operations == 0 {
					t.Errorf("%s: %d skipped (%s), %d operations", f.Name, f.Skipped, f.SkippedFor, f.Operations)
				}
			}
		})
	}
}

// TestFamiliesAgainstZooKeeper is a test for each family, all on one server: the
// zxids of a script do not depend on what was played before.
func TestFamiliesAgainstZooKeeper(t *testing.T) {
	t.Parallel()
	fakeAll, realAll := fake(t, settings), genuine(t, realSettings())
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
	opts, real := hastySettings()
	for _, f := range wantEqual(t, fake(t, opts), genuine(t, real), Options{Fresh: true, Families: hasty}).Families {
		if f.Skipped > 0 {
			t.Errorf("%s: skipped", f.Name)
		}
	}
}

// TestRandomAgainstZooKeeper plays two seeds: one that is always the same and one
// that is not, which
//
//	go test ./fakezk/conform -run RandomAgainst -conform.seed=N
//
// repeats. The second begins where the first has left two used servers.
func TestRandomAgainstZooKeeper(t *testing.T) {
	t.Parallel()
	ops := 4000
	if testing.Short() {
		ops /= 10
	}
	seed := *randomSeed
	for seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("to repeat it: go test ./fakezk/conform -run RandomAgainst -conform.seed=%d", seed)
	a, b := fake(t, settings), genuine(t, realSettings())
	wantEqual(t, a, b, Options{Fresh: true, Families: []string{randomFamily}, Ops: ops, Seed: 1})
	wantEqual(t, a, b, Options{Families: []string{randomFamily}, Ops: ops, Seed: seed})
}

// TestServersThatAreNotFresh has clients before the comparison, and data that
// must be left alone.
func TestServersThatAreNotFresh(t *testing.T) {
	t.Parallel()
	a, b := fakezk.Start(t, settings), fakezk.Start(t, settings)
	a.Connect(t)
	for s, paths := range map[*fakezk.Server][]string{a: {"/mine", "/mine/too", "/and"}, b: {"/others"}} {
		for _, path := range paths {
			if err := s.Put(path, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := [][]znode.Node{a.Tree(), b.Tree()}
	report := wantEqual(t, targetOf(a), targetOf(b), Options{Families: patient(), Ops: 1000})
	if f := report.Families[0]; f.Skipped == 0 || f.Operations > 0 {
		t.Errorf("the family fresh was played: %+v", f)
	}
	for i, s := range []*fakezk.Server{a, b} {
		if diff := cmp.Diff(nodes(before[i]), nodes(s.Tree())); diff != "" {
			t.Errorf("-before +after\n%s", diff)
		}
	}
	if _, err := Compare(t.Context(), targetOf(a), targetOf(b), Options{Fresh: true}); err == nil || !strings.Contains(err.Error(), "not a fresh server") {
		t.Errorf("asked for fresh servers: %v", err)
	}
}

// nodes are the paths and the data of a tree.
func nodes(tree []znode.Node) map[string]string {
	m := map[string]string{}
	for _, n := range tree {
		m[n.Path] = string(n.Data)
	}
	return m
}

func TestWhatKeepsFromComparing(t *testing.T) {
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
		{"no such family", t.Context(), good, Options{Families: []string{"stats"}}, `there is no family "stats"; expected one of ["fresh" `},
		{"no superuser", t.Context(), fake(t, plain), Options{}, "superDigest=super:"},
		{"nobody there", t.Context(), Target{Address: "127.0.0.1:1"}, Options{}, "connect to 127.0.0.1:1"},
		{"interrupted", ctx, good, Options{}, "canceled"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compare(test.ctx, good, test.b, test.opts)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want ...%s...", err, test.want)
			}
		})
	}
}

func TestProgressGrows(t *testing.T) {
	var heard []Progress
	report := wantEqual(t, fake(t, settings), fake(t, settings), Options{
		Families: []string{"stat", "zxids"}, Progress: func(p Progress) { heard = append(heard, p) },
	})
	scripts := report.Families[0].Scripts + report.Families[1].Scripts
	sorted := slices.IsSortedFunc(heard, func(a, b Progress) int { return a.Operations - b.Operations })
	if len(heard) != scripts || !sorted || heard[len(heard)-1].Family != "zxids" {
		t.Errorf("heard %+v of %d scripts", heard, scripts)
	}
}
