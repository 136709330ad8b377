package conform

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/internal/realzk"
)

// settings are those of the built-in server; realSettings are the same.
var settings = fakezk.Options{
	TickTime:               500 * time.Millisecond,
	MaxSessionTimeout:      time.Minute,
	SuperDigest:            SuperDigest,
	EnforceQuota:           true,
	ContainerCheckInterval: -1,
}

func realSettings() realzk.Options {
	return realzk.Options{
		TickTime:          500 * time.Millisecond,
		MaxSessionTimeout: time.Minute,
		Properties: map[string]string{
			"zookeeper.DigestAuthenticationProvider.superDigest": SuperDigest,
			"zookeeper.enforceQuota":                             "true",
			"znode.container.checkIntervalMs":                    "100000000",
		},
	}
}

// reapingSettings make a server that soon deletes emptied containers.
func reapingSettings() (fakezk.Options, realzk.Options) {
	opts, real := settings, realSettings()
	opts.ContainerCheckInterval = 500 * time.Millisecond
	real.Properties["znode.container.checkIntervalMs"] = "500"
	return opts, real
}

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
	for _, d := range report.Differences {
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
	opts, _ := reapingSettings()
	report := wantEqual(t, fake(t, opts), fake(t, opts), Options{Fresh: true, Ops: 2000})
	for _, f := range report.Families {
		if f.Skipped > 0 || f.Operations == 0 {
			t.Errorf("%s: %d skipped (%s), %d operations", f.Name, f.Skipped, f.SkippedFor, f.Operations)
		}
	}
}

// TestFamiliesAgainstZooKeeper is a test for each family, all on one server: the
// zxids of a script do not depend on what was played before.
func TestFamiliesAgainstZooKeeper(t *testing.T) {
	t.Parallel()
	fakeAll, realAll := fake(t, settings), genuine(t, realSettings())
	for i, family := range Families() {
		if family == "reaping" {
			continue
		}
		t.Run(family, func(t *testing.T) {
			wantEqual(t, fakeAll, realAll, Options{Fresh: i == 0, Families: []string{family}})
		})
	}
}

func TestReapingAgainstZooKeeper(t *testing.T) {
	t.Parallel()
	opts, real := reapingSettings()
	report := wantEqual(t, fake(t, opts), genuine(t, real), Options{Fresh: true, Families: []string{"reaping"}})
	if report.Families[0].Skipped > 0 {
		t.Error("skipped")
	}
}

func TestRandomAgainstZooKeeper(t *testing.T) {
	t.Parallel()
	ops := 20_000
	if testing.Short() {
		ops /= 10
	}
	wantEqual(t, fake(t, settings), genuine(t, realSettings()), Options{Fresh: true, Families: []string{randomFamily}, Ops: ops, Seed: 1})
}

// TestServersThatAreNotFresh has clients before the comparison, and data that
// must be left alone.
func TestServersThatAreNotFresh(t *testing.T) {
	t.Parallel()
	opts, _ := reapingSettings()
	a, b := fakezk.Start(t, opts), fakezk.Start(t, opts)
	a.Connect(t)
	target := func(s *fakezk.Server) Target {
		return Target{Dial: func(context.Context) (net.Conn, error) { return s.Dialer()("tcp", "", 0) }}
	}
	for s, paths := range map[*fakezk.Server][]string{a: {"/mine", "/mine/too", "/and"}, b: {"/others"}} {
		for _, path := range paths {
			if err := s.Put(path, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := [][]fakezk.Node{a.Tree(), b.Tree()}
	report := wantEqual(t, target(a), target(b), Options{Ops: 1000})
	if f := report.Families[0]; f.Skipped == 0 || f.Operations > 0 {
		t.Errorf("the family fresh was played: %+v", f)
	}
	for i, s := range []*fakezk.Server{a, b} {
		if diff := cmp.Diff(nodes(before[i]), nodes(s.Tree())); diff != "" {
			t.Errorf("-before +after\n%s", diff)
		}
	}
	if _, err := Compare(t.Context(), target(a), target(b), Options{Fresh: true}); err == nil || !strings.Contains(err.Error(), "not a fresh server") {
		t.Errorf("asked for fresh servers: %v", err)
	}
}

// nodes are the paths and the data of a tree.
func nodes(tree []fakezk.Node) map[string]string {
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
