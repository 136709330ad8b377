package zksim_test

import (
	"context"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/cli"
	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/property"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/recipes"
	"pgregory.net/rapid"
)

// deathVariable is the variable of the environment that makes this test binary a child that dies;
// its value is the way in which it dies.
const deathVariable = "ZKSIM_DEATH"

// die ends the process in the way that the variable names.
func die() {
	switch os.Getenv(deathVariable) {
	case "a panic":
		go func() { panic("lost") }()
		select {}
	case "os.Exit":
		os.Exit(3)
	case "log.Fatal":
		log.Fatal("lost")
	case "log.Fatal of a dial":
		log.Fatal("lookup zk1.prod on 127.0.0.1:53: no such host")
	case "a fatal error":
		runtime.GOMAXPROCS(4) // the runtime sees only writes at the same time
		m := map[int]int{}
		for range 4 {
			go func() {
				for {
					m[1]++
				}
			}()
		}
		select {}
	}
}

// dyingLock is a lock that ends the process in the way that the variable names.
type dyingLock struct{ object.Locker }

func (l dyingLock) Lock(ctx context.Context) error {
	die()
	return l.Locker.Lock(ctx)
}

func dying() scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker {
		return dyingLock{recipes.NewLock(env.Conn, "/lock")}
	}).Named("dying")
}

// sharing is a lock whose connection is that of the first run of the process.
func sharing() scenario.Workload {
	var conn *zk.Conn
	return object.Lock(func(env object.Env) object.Locker {
		if conn == nil {
			conn = env.Conn
		}
		return recipes.NewLock(conn, "/lock")
	})
}

// keeping is a lock that keeps the connection of each client, and those of the first run of the
// process for ever.
func keeping() scenario.Workload {
	var mu sync.Mutex
	conns := map[string]*zk.Conn{}
	return object.Lock(func(env object.Env) object.Locker {
		mu.Lock()
		defer mu.Unlock()
		if conns[env.Name] == nil {
			conns[env.Name] = env.Conn
		}
		return recipes.NewLock(conns[env.Name], "/lock")
	})
}

// child skips a test that is not played in a child.
func child(t testing.TB) {
	if os.Getenv(deathVariable) == "" {
		t.Skip("for TestEveryWayToPlayNamesTheScenarioOfADeath")
	}
}

func TestDeath(t *testing.T) { child(t); fuzz.Test(t, dying()) }

func TestSharedConnection(t *testing.T) { child(t); fuzz.Test(t, sharing()) }

// TestEarlyConnection has a connection that was made before the run, as by init.
func TestEarlyConnection(t *testing.T) {
	child(t)
	conn, _, err := zk.Connect([]string{"127.0.0.1:1"}, time.Second)
	check.OK(t, err)
	defer conn.Close()
	fuzz.Test(t, object.Lock(func(object.Env) object.Locker {
		return recipes.NewLock(conn, "/lock")
	}))
}

func TestKeptConnections(t *testing.T) { child(t); fuzz.Test(t, keeping()) }

func FuzzDeath(f *testing.F) { child(f); fuzz.Fuzz(f, dying()) }

func TestDeathInAProperty(t *testing.T) {
	child(t)
	property.Check(t, func(_ *rapid.T, w *property.World) {
		if _, _, err := w.Conn("a").Exists("/"); err == nil {
			die()
		}
	})
}

// commandOfDeath is Main of a command with the lock, for the child that TestMain makes.
func commandOfDeath() { cli.Main(dying()) }

// TestEveryWayToPlayNamesTheScenarioOfADeath: whatever plays the code under test, and however it
// ends the process, standard error names what was played, and the next process begins with it.
func TestEveryWayToPlayNamesTheScenarioOfADeath(t *testing.T) {
	t.Parallel()
	const announced = "zksim: this process ended while it played "
	for _, play := range []struct {
		by, first, next, file string
		args                  []string
	}{
		{"fuzz.Test", announced, "zksim: TestDeath plays testdata/zksim/TestDeath/left-",
			"testdata/zksim/TestDeath/crash-*.yaml", []string{"-test.run=^TestDeath$"}},
		{"fuzz.Fuzz", announced, "zksim: FuzzDeath plays testdata/zksim/FuzzDeath/left-",
			"testdata/zksim/FuzzDeath/crash-*.yaml", []string{"-test.run=^FuzzDeath$"}},
		{"property.Check", announced,
			"zksim: an earlier process of TestDeathInAProperty ended in check ",
			"testdata/zksim/.playing-*", []string{"-test.run=^TestDeathInAProperty$"}},
		{"the command", "crash is violated: the code under test ends the process: ",
			"crash is violated: the code under test ends the process: ", "found/*-crash-*.yaml",
			[]string{"fuzz", "dying", "--runs", "1", "--save", "found"}},
	} {
		for _, way := range []string{"a panic", "os.Exit", "log.Fatal", "a fatal error", "none"} {
			t.Run(play.by+" and "+way, func(t *testing.T) {
				dir := t.TempDir()
				run := func() (passed bool, text string) {
					return testrun.Self(t, dir, []string{deathVariable + "=" + way}, play.args...)
				}
				passed, text := run()
				if way == "none" {
					if !passed || strings.Contains(text, "zksim: ") ||
						strings.Contains(text, "violated") {
						t.Errorf("passed: %v\n%s", passed, text)
					}
					return
				}
				if passed || !strings.Contains(text, play.first) ||
					strings.Count(text, announced) > 1 {
					t.Errorf("passed: %v; want %q once in:\n%s", passed, play.first, text)
				}
				_, text = run()
				check.Contains(t, text, play.next)
				if strings.HasPrefix(play.by, "fuzz.") {
					check.Contains(t, text, "which was under way when an earlier process")
				}
				run()
				files, err := filepath.Glob(filepath.Join(dir, play.file))
				check.OK(t, err)
				check.Equal(t, len(files), 1, "files %q", files)
			})
		}
	}
}

// TestAConnectionOfAnotherRunIsTold in words, where the runtime speaks of a channel.
func TestAConnectionOfAnotherRunIsTold(t *testing.T) {
	t.Parallel()
	passed, text := testrun.Self(t, t.TempDir(), []string{deathVariable + "=sharing"},
		"-test.run=^TestSharedConnection$", "-zksim.clients=1")
	if passed {
		t.Error("the test passes")
	}
	const want = `zksim: a connection, or another channel or timer, that was made in one run is used ` +
		`in another one \((made in run 1, used in run 2|used in one of the runs 2 to \d+)\): ` +
		`the code keeps it in a variable of the package`
	if !regexp.MustCompile(want).MatchString(text) {
		t.Errorf("%s\nwant %s", text, want)
	}
}

// TestProcessesKeepNothing: with a process for each scenario, code that keeps its connections in
// variables is played like other code. A process that dies is told with its scenario.
func TestProcessesKeepNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ test, death, flag, want string }{
		{"TestKeptConnections", "x", "-zksim.shard=1/2", `(?s)zksim: survived .*\nPASS`},
		{"TestKeptConnections", "x", "-zksim.processes=false", "with -zksim.processes"},
		{"TestSharedConnection", "x", "-zksim.clients=1", `(?s)zksim: survived .*\nPASS`},
		{"TestSharedConnection", "x", "-zksim.clients=2",
			"nothing can be decided: clients a and b share a connection: "},
		{"TestSharedConnection", "x", "-zksim.clients=-1", "-zksim.clients: -1; expected 1 to 26"},
		{"TestEarlyConnection", "x", "-zksim.clients=1", "nothing can be decided: a connection, or " +
			"another channel or timer, that was made before the run, as by init, is used in it: "},
		{"TestDeath", "os.Exit", "-test.v", "the process of the run ended: exit status 3\n" +
			`.*to see it again: go test .* -zksim.replay=testdata/zksim/TestDeath/crash-\w+.yaml -zksim.processes`},
		{"TestDeath", "log.Fatal of a dial", "-test.v", "zksim go test runs such code"},
	} {
		_, text := testrun.Self(t, t.TempDir(), []string{deathVariable + "=" + c.death},
			"-test.run=^"+c.test+"$", "-test.short", "-test.v", "-zksim.processes",
			"-zksim.runs=2", c.flag)
		if !regexp.MustCompile(c.want).MatchString(text) {
			t.Errorf("%s: %s\nwant %s", c.test, text, c.want)
		}
	}
}
