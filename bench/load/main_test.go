package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
)

// asProgram is an environment variable that makes the test binary the command: it
// starts itself as a server.
const asProgram = "LOAD_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	// The servers inherit this. With the race detector a process stays for a second after its end,
	// unless told not to.
	race := os.Getenv("GORACE") + " atexit_sleep_ms=0"
	for name, value := range map[string]string{asProgram: "1", "GORACE": race} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// brief adds flags for one short round with one connection.
func brief(args ...string) []string {
	return append([]string{"--conns", "1", "--rounds", "1", "--round-time", "5ms"}, args...)
}

// load runs the command and returns its output.
func load(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	var problems lockedBuffer // the servers' standard error, too
	a := &app{ctx: t.Context(), in: strings.NewReader(""), out: &out, errors: &problems}
	if err := run(a, args); err != nil {
		return "", fmt.Errorf("load %s: %w\n%s", strings.Join(args, " "), err, problems.String())
	}
	return out.String(), nil
}

// lockedBuffer is a buffer that several processes are copied into.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// mustRun returns the output of a command that must succeed.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	stdout, err := load(t, args...)
	check.OK(t, err)
	return stdout
}

func TestCompareMeasuresEveryCell(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	c := compareCommand{Conns: []int{1, 4}, Rounds: 2, RoundTime: 10 * time.Millisecond}
	a := &app{ctx: t.Context(), errors: &lockedBuffer{}}
	servers, _, err := startServers(a, []string{serverOurs}, nil)
	check.OK(t, err)
	cells, err := c.measure(a, servers, operations)
	check.OK(t, errors.Join(err, stopAll(servers)))
	check.Equal(t, len(cells), 2*len(operations))
	for _, c := range cells {
		s := c.Servers[serverOurs]
		if len(c.OursTo) != 0 || len(c.Servers) != 1 || len(s.Rounds) != 2 || s.Rate <= 0 ||
			s.P50 <= 0 || s.P50 > s.P99 {
			t.Errorf("%s with %d connections: %+v", c.Op, c.Conns, c)
		}
	}
}

func TestReportIsATableWithNotes(t *testing.T) {
	out := mustRun(t, brief("--servers", "ours", "--ops", "get,mix")...)
	for _, want := range []string{
		"| operation | connections |", "\n|---        |---:", "\n| get       | 1  ", "\n| mix ",
		"\nServers: ours. ", " cores, ",
	} {
		check.Contains(t, out, want)
	}
}

func TestProfileIsWritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cpu.pprof")
	mustRun(t, brief("--servers", "ours", "--ops", "get", "--profile", name)...)
	if info, err := os.Stat(name); err != nil || info.Size() == 0 {
		t.Errorf("profile: %v, %v", info, err)
	}
}

func TestWithoutJavaTheRealOneIsLeftOut(t *testing.T) {
	for _, name := range []string{"PATH", "JAVA_HOME", "ZKSIM_REAL_ZOOKEEPER"} {
		t.Setenv(name, "")
	}
	for _, args := range [][]string{
		brief("--servers", "ours,real", "--ops", "get"),
		{"start", "--servers", "in-process,real", "--runs", "1"},
	} {
		out := mustRun(t, args...)
		if !strings.Contains(out, "real is left out: ") {
			t.Errorf("load %s: the missing server is not named:\n%s", strings.Join(args, " "), out)
		}
	}
}

func TestStartTellsEachServer(t *testing.T) {
	out := mustRun(t, "start", "--servers", "in-process,ours", "--runs", "2")
	check.Contains(t, out, "\n| in-process ")
	check.Contains(t, out, "\n| ours ")
}

func TestAttacksAreAnswered(t *testing.T) {
	defer func(n int) { most = n }(most)
	most = 30_000
	defer func(whole controlSizes) { slow = whole }(slow)
	slow.clients, slow.megabytes, slow.lasts, slow.rest = 20, 2, time.Second, 0
	slow.nodes = 1000
	servers := []string{serverOurs}
	if !testing.Short() {
		servers = append(servers, serverOurs3)
	}
	out := mustRun(t, "attack", "--servers", strings.Join(servers, ","))
	for _, k := range attacks {
		ends := "(answered|\\d+ MB of text)"
		switch k.name {
		case "a multiRead of 2,500 nodes of 1 MB", "a list of 150 MB of names":
			ends = "connection closed"
		}
		for _, server := range servers {
			row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(k.name) + ` +\| ` + server +
				` +(\| [\d.,]+ +){5}\| ` + ends + ` +\|$`)
			if !row.MatchString(out) {
				t.Errorf("no %s in\n%s", row, out)
			}
		}
	}
	for _, k := range controlAttacks {
		row := regexp.MustCompile(`(?m)^\| ` + k.name +
			` +(\| [\d.,]+ +){5}\| (0 refused|reset [\d.,]+ ms, SIGTERM [\d.,]+ ms) +\|$`)
		if !row.MatchString(out) {
			t.Errorf("no %s in\n%s", row, out)
		}
	}
}

func TestRealZooKeeperIsMeasuredToo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a JVM")
	}
	t.Setenv("ZKSIM_REAL_ZOOKEEPER", "") // one that runs already has no process here
	s, err := realzk.Launch(t.Context(), realzk.Options{})
	if errors.Is(err, realzk.ErrMissing) {
		t.Skip(err)
	}
	check.OK(t, err)
	check.OK(t, s.Stop())
	out := mustRun(t, brief("--servers", "ours,real")...)
	check.Contains(t, out, "real is ZooKeeper 3.")
	check.Contains(t, out, "| ours/real |")
}

func TestWrongFlagsAreNamed(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--ops", "get,gte"}, `no operation "gte"; there are get, exists`},
		{[]string{"--servers", "theirs"}, `no server "theirs"; there are ours, ours-3 and real`},
		{[]string{"--servers", "real", "--profile", "x"}, "--profile is of ours"},
		{[]string{"--conns", "0"}, "0 connections"},
		{[]string{"--rounds", "0"}, "0 rounds"},
		{[]string{"--round-time", "-1s"}, "-1s"},
		{[]string{"start", "--runs", "0"}, "0 runs"},
	} {
		if _, err := load(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("load %s: %v; expected %q", strings.Join(c.args, " "), err, c.want)
		}
	}
}

func TestServerEndsWithItsDriver(t *testing.T) {
	var out, problems bytes.Buffer // no children
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a := &app{ctx: ctx, in: strings.NewReader(""), out: &out, errors: &problems}
	err := run(a, []string{"serve", "--controlled"})
	if err != nil || ctx.Err() != nil || !strings.HasPrefix(out.String(), "127.0.0.1:") {
		t.Errorf("%v, %v, %s%s", err, ctx.Err(), out.String(), problems.String())
	}
}

// longRound runs a round of a minute against ours.
func longRound(t *testing.T, ctx context.Context, do func(*worker) error) error {
	t.Helper()
	a := &app{ctx: ctx, errors: &lockedBuffer{}}
	s, err := startOurs(&app{ctx: t.Context(), errors: a.errors}, 1)
	check.OK(t, err)
	err = withGroups(a, []*server{s}, "/test", 1, func(groups []*workerGroup) error {
		_, err := groups[0].round(ctx, operation{"break", do}, time.Minute)
		return err
	})
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	return err
}

func TestInterruptEndsARound(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := longRound(t, ctx, func(w *worker) error {
		cancel()
		return getNode(w)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v; expected that the round is given up", err)
	}
}

func TestFailureNamesServerAndOperation(t *testing.T) {
	err := longRound(t, t.Context(), func(w *worker) error {
		_, err := w.conn.Set("bad path", nil, -1)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "ours: break: ") {
		t.Errorf("%v; expected the server and the operation", err)
	}
}
