package property_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/property"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.short", "false"); err != nil { // with it rapid checks a fifth
		panic(err)
	}
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}

// recordingTB is the test of a property that fails.
type recordingTB struct {
	mu     sync.Mutex
	name   string
	out    strings.Builder
	failed bool
}

func (s *recordingTB) Helper()      {}
func (s *recordingTB) Name() string { return s.name }
func (s *recordingTB) Log(args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(&s.out, args...)
}
func (s *recordingTB) Logf(format string, args ...any)   { s.Log(fmt.Sprintf(format, args...)) }
func (s *recordingTB) Skip(args ...any)                  { s.Log(args...); s.SkipNow() }
func (s *recordingTB) Skipf(format string, args ...any)  { s.Skip(fmt.Sprintf(format, args...)) }
func (s *recordingTB) SkipNow()                          { runtime.Goexit() }
func (s *recordingTB) Error(args ...any)                 { s.Log(args...); s.Fail() }
func (s *recordingTB) Errorf(format string, args ...any) { s.Error(fmt.Sprintf(format, args...)) }
func (s *recordingTB) Fatal(args ...any)                 { s.Error(args...); s.FailNow() }
func (s *recordingTB) Fatalf(format string, args ...any) { s.Fatal(fmt.Sprintf(format, args...)) }
func (s *recordingTB) Fail()                             { s.failed = true }
func (s *recordingTB) FailNow()                          { s.Fail(); runtime.Goexit() }
func (s *recordingTB) Failed() bool                      { return s.failed }

// failing checks a property that must fail, with one server and in an empty directory, and returns
// the output.
func failing(t *testing.T, body func(*rapid.T, *property.World)) string {
	t.Helper()
	return failingWith(t, 1, body)
}

// failingWith is failing with several servers.
func failingWith(t *testing.T, servers int, body func(*rapid.T, *property.World)) string {
	t.Helper()
	passed, out := checked(t, servers, body)
	if passed {
		t.Fatalf("the property holds:\n%s", out)
	}
	return out
}

// checked checks a property, and returns the output.
func checked(
	t *testing.T, servers int, body func(*rapid.T, *property.World),
) (passed bool, out string) {
	s := &recordingTB{name: t.Name()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		property.CheckServers(s, servers, body)
	}()
	<-done
	return !s.failed, s.out.String()
}

// asks lets client a send a request, without which a property tests nothing.
func asks(w *property.World) { _, _, _ = w.Conn("a").Exists("/") }

// quick sets rapid's flags for a short test in an empty directory.
func quick(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "rapid.seed", "2")
	testrun.SetFlag(t, "rapid.checks", "60")
	testrun.SetFlag(t, "rapid.steps", "5")
	testrun.SetFlag(t, "rapid.shrinktime", "500ms")
}

// TestAPassingTestSaysOnWhatItRests: a green is earned. One whose clients send nothing fails.
func TestAPassingTestSaysOnWhatItRests(t *testing.T) {
	quick(t)
	testrun.SetFlag(t, "rapid.checks", "25")
	t.Setenv("ZKSIM_SHARD", "1/4")
	passed, out := checked(t, 1, func(_ *rapid.T, w *property.World) { asks(w); w.Tree("/") })
	check.Equal(t, passed, true, out)
	line := regexp.MustCompile(`zksim: survived 25 checks, (\d+) of them with faults: (\d+) faults, ` +
		`of which (\d+) struck; the clients sent 25 requests; .* have no effect:.* ZKSIM_SHARD`)
	if m := line.FindStringSubmatch(out); m == nil || m[1] == "0" || m[2] == "0" || m[3] == "0" {
		t.Errorf("%s\nwant %s", out, line)
	}
	check.Contains(t, failing(t, func(_ *rapid.T, w *property.World) { w.Tree("/") }),
		"no client has sent a request in any of 25 checks, so nothing was tested")
	property.Check(t, announces(false))
}

func TestABrokenServiceFailsWithItsStoryAndIsRepeated(t *testing.T) {
	quick(t)
	out := failing(t, announces(true))
	for _, want := range []string{
		`the tree has the address ""; expected "`,
		"property is violated: the tree has the address",
		"  fault: ", "what happened (step, virtual time, who):",
	} {
		check.Contains(t, out, want)
	}
	files, err := filepath.Glob("testdata/rapid/*/*.fail")
	check.OK(t, err)
	check.Equal(t, len(files), 1)

	testrun.SetFlag(t, "rapid.seed", "2")
	testrun.SetFlag(t, "rapid.checks", "1")
	again := failing(t, announces(true)) // by the fail file
	if story(again) != story(out) {
		t.Errorf("the fail file shows\n%s\nand the failure was\n%s", again, out)
	}
}

// story is the part of an output from its last verdict on.
func story(out string) string {
	_, s, _ := strings.Cut(out[strings.LastIndex(out, "property is violated: "):], "seed of the world: ")
	return s
}

// TestFaultsAreMadePlainerWhenRapidHasNoTime: the plan is saved beside the fail file, and the next
// run uses both.
func TestFaultsAreMadePlainerWhenRapidHasNoTime(t *testing.T) {
	for name, fail := range map[string]func(*rapid.T){
		"fatal": func(rt *rapid.T) { rt.Fatal("a's session has ended") },
		"error": func(rt *rapid.T) { rt.Error("a's session has ended") },
	} {
		t.Run(name, func(t *testing.T) {
			quick(t)
			testrun.SetFlag(t, "rapid.shrinktime", "1ns")
			body := func(rt *rapid.T, w *property.World) {
				conn := w.Conn("a")
				for conn.SessionID() == 0 {
					w.Sleep(100 * time.Millisecond)
				}
				first := conn.SessionID()
				if w.Sleep(2 * time.Minute); conn.SessionID() != first {
					fail(rt)
				}
			}
			out := failing(t, body)
			check.Contains(t, out, "The same draws fail with a smaller plan.")
			plans, err := filepath.Glob("testdata/rapid/*/*.plan")
			check.OK(t, err)
			check.Equal(t, len(plans), 1)
			text := testrun.ReadFile(t, plans[0])
			check.Equal(t, strings.Count(text, "fault: "), 1)

			again := failing(t, body)
			_, plan, _ := strings.Cut(text, "fault: ")
			check.Contains(t, again, "  fault: "+plan)
			check.Equal(t, strings.Count(again, "  fault: "), 1)

			elsewhere := t.TempDir()
			check.OK(t, os.Rename(filepath.Dir(plans[0]), elsewhere+"/files"))
			moved, err := filepath.Glob(elsewhere + "/files/*.fail")
			check.OK(t, err)
			testrun.SetFlag(t, "rapid.failfile", moved[0])
			check.Equal(t, strings.Count(failing(t, body), "  fault: "), 1)
			testrun.SetFlag(t, "rapid.failfile", "")
			check.OK(t, os.Rename(elsewhere+"/files", filepath.Dir(plans[0])))

			check.OK(t, os.WriteFile(plans[0], []byte("fault: nothing"), 0o666))
			check.Contains(t, failing(t, body), plans[0]+": line 1: ")
		})
	}
}

// TestFailFilesThatAreInvalidAreNamedOnce, with the plan beside, and the command that removes them.
// A file that still fails, and one whose body passes, stay.
func TestFailFilesThatAreInvalidAreNamedOnce(t *testing.T) {
	quick(t)
	testrun.SetFlag(t, "rapid.checks", "3")
	draws, fails := 1, true
	body := func(rt *rapid.T, w *property.World) {
		asks(w)
		for range draws {
			rapid.Uint64().Draw(rt, "n")
		}
		if fails {
			rt.Fatal("broken")
		}
	}
	failing(t, body)
	files, err := filepath.Glob("testdata/rapid/*/*.fail")
	check.OK(t, err)
	check.Equal(t, len(files), 1)
	folder, err := filepath.Abs(filepath.Dir(files[0]))
	check.OK(t, err)
	name := filepath.Join(folder, t.Name()+"-0")
	check.OK(t, os.Rename(files[0], name+".fail")) // a later file of this second has its name
	check.OK(t, os.WriteFile(name+".plan", []byte("seed: 1\n"), 0o666))

	const says = "zksim: these fail files test nothing any more: the test does not fail with their " +
		"draws, and wants more than they have. "
	for _, c := range []struct {
		name  string
		draws int
		fails bool
		want  int
	}{
		{"as before", 1, true, 0}, {"mended, with the same draws", 1, false, 0},
		{"mended, and more draws", 9, false, 1}, {"broken, and more draws", 9, true, 1},
	} {
		draws, fails = c.draws, c.fails
		_, out := checked(t, 1, body)
		check.Equal(t, strings.Count(out, says), c.want)
		check.Equal(t, strings.Contains(out, ". To remove the files: rm "+name+".fail "+name+
			".plan\n"), c.want == 1)
	}
}

// TestTheReasonOfAFailureIsTold: each body fails in its own way.
func TestTheReasonOfAFailureIsTold(t *testing.T) {
	for _, c := range []struct {
		name, want string
		body       func(*rapid.T, *property.World)
	}{
		{"an error", "property is violated: too few\n",
			func(rt *rapid.T, w *property.World) { rt.Errorf("too few") }},
		{"a panic", "panic: broken\n",
			func(*rapid.T, *property.World) { panic("broken") }},
		{"a client", "panic: broken client",
			func(_ *rapid.T, w *property.World) {
				w.Go("b", func() { panic("broken client") })()
			}},
		{"a client, not waited for", "panic: broken client",
			func(_ *rapid.T, w *property.World) { w.Go("b", func() { panic("broken client") }) }},
		{"no end", "s of virtual time, which is the time limit of a run",
			func(_ *rapid.T, w *property.World) { <-w.Context().Done(); w.Sleep(1) }},
		{"a client without end", "the body has ended, and a function that client c runs by World.Go has not, after 6h",
			func(_ *rapid.T, w *property.World) { w.Go("c", func() { select {} }) }},
		{"a loop of requests", "client a gets no further: the code under test has sent 1",
			func(_ *rapid.T, w *property.World) {
				w.Go("a", func() {
					for w.Context().Err() == nil {
						w.Conn("a").Exists("/")
					}
				})
			}},
		{"an unknown client", `property: client "d"; expected a, b or c`,
			func(_ *rapid.T, w *property.World) { w.Conn("d") }},
		{"the end of the goroutine", "panic: ",
			func(*rapid.T, *property.World) { runtime.Goexit() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			quick(t)
			testrun.SetFlag(t, "rapid.shrinktime", "1ms")
			check.Contains(t, failing(t, c.body), c.want)
		})
	}
}

// TestRapidMakesOneFailureSmall, and does not slip to another one.
func TestRapidMakesOneFailureSmall(t *testing.T) {
	quick(t)
	testrun.SetFlag(t, "rapid.shrinktime", "30s")
	out := failing(t, func(rt *rapid.T, w *property.World) {
		switch n := rapid.IntRange(0, 1000).Draw(rt, "n"); {
		case n > 20:
			rt.Fatalf("large")
		case n > 2:
			rt.Fatalf("small")
		}
	})
	check.Contains(t, out, ": large")
	check.Contains(t, out, "draw n: 21")
	check.Equal(t, strings.Contains(out, "not made smaller"), false, out)
}

// TestAnotherReasonForTheSameDrawsIsTold: rapid ends its search without a word then.
func TestAnotherReasonForTheSameDrawsIsTold(t *testing.T) {
	quick(t)
	runs := 0
	out := failing(t, func(rt *rapid.T, w *property.World) {
		if n := rapid.IntRange(0, 1000).Draw(rt, "n"); n > 20 {
			runs++
			rt.Fatalf("%d of %d", runs, n)
		}
	})
	want := regexp.MustCompile(`not made smaller: the same draws fail with "1 of (\d+)" and with ` +
		`"2 of (\d+)"; does the body walk a map\?`)
	if m := want.FindStringSubmatch(out); m == nil || m[1] != m[2] {
		t.Errorf("%s\nwant %s", out, want)
	}
}

// TestAnEnsembleShowsStaleReads: with one server a client reads what another has written, but not
// with several. Tree has it.
func TestAnEnsembleShowsStaleReads(t *testing.T) {
	quick(t)
	property.Check(t, readsAtOnce)
	out := failingWith(t, 3, readsAtOnce)
	check.Contains(t, out, "b does not see the znode")
	check.Contains(t, out, ", servers: 3")
	check.Contains(t, failingWith(t, 0, readsAtOnce), "property: 0 servers; expected 1 to 7")
}

// readsAtOnce reads by b what a has just written.
func readsAtOnce(rt *rapid.T, w *property.World) {
	path := "/" + rapid.StringMatching(`[a-z]{3}`).Draw(rt, "name")
	if _, _, err := w.Conn("b").Exists("/"); err != nil { // b's new session would be up to date
		return
	}
	if _, err := w.Conn("a").Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		return
	}
	if exists, _, err := w.Conn("b").Exists(path); err == nil && !exists {
		rt.Fatal("b does not see the znode")
	}
	if _, exists := w.Tree("/")[path]; !exists {
		rt.Fatal("the tree has no such znode")
	}
}

// TestAGoodServicePassesWithSeveralServers, and a bug that one server shows is shown with one.
func TestAGoodServicePassesWithSeveralServers(t *testing.T) {
	quick(t)
	testrun.SetFlag(t, "rapid.checks", "25")
	property.CheckServers(t, 3, announces(false))
	testrun.SetFlag(t, "rapid.checks", "60")
	testrun.SetFlag(t, "rapid.seed", "3")
	out := failingWith(t, 3, announces(true))
	check.Equal(t, strings.Contains(story(out), "servers:"), false, "%s", story(out))
}

// TestChecksMayBeSkipped, as rapid's generators do.
func TestChecksMayBeSkipped(t *testing.T) {
	quick(t)
	property.Check(t, func(rt *rapid.T, w *property.World) {
		asks(w)
		if rapid.Bool().Draw(rt, "skip") {
			rt.Skip()
		}
	})
}

// TestClientsWorkAtTheSameTime, but each function of a client runs after the one before.
func TestClientsWorkAtTheSameTime(t *testing.T) {
	quick(t)
	testrun.SetFlag(t, "rapid.checks", "5")
	property.Check(t, func(rt *rapid.T, w *property.World) {
		asks(w)
		var order []string
		begun := w.Now()
		waits := []func(){
			w.Go("a", func() { time.Sleep(time.Second); order = append(order, "a1") }),
			w.Go("b", func() { time.Sleep(2 * time.Second) }),
			w.Go("a", func() { time.Sleep(time.Second); order = append(order, "a2") }),
		}
		for _, wait := range waits {
			wait()
		}
		check.List(rt, order, []string{"a1", "a2"})
		if took := (w.Now() - begun).Round(time.Second); took != 2*time.Second {
			rt.Errorf("took %v; want 2s", took)
		}
	})
}

// TestTheTreeIsRead without the nodes of ZooKeeper itself.
func TestTheTreeIsRead(t *testing.T) {
	quick(t)
	testrun.SetFlag(t, "rapid.checks", "5")
	property.Check(t, func(rt *rapid.T, w *property.World) {
		conn, _ := w.Connect("c")
		for _, path := range []string{"/x", "/x/y"} {
			for {
				_, err := conn.Create(path, []byte(path), 0, zk.WorldACL(zk.PermAll))
				if err == nil || errors.Is(err, zk.ErrNodeExists) {
					break
				}
				w.Sleep(time.Second)
			}
		}
		check.Diff(rt, w.Tree("/"), map[string]string{"/": "", "/x": "/x", "/x/y": "/x/y"})
		check.Equal(rt, len(w.Tree("/none")), 0)
	})
}

// TestTheHarnessIsNoRunaway: the body reads a large tree after each of many actions, and each
// action sends many requests, all without a pause.
func TestTheHarnessIsNoRunaway(t *testing.T) {
	quick(t)
	testrun.SetFlag(t, "rapid.checks", "3")
	property.Check(t, func(_ *rapid.T, w *property.World) {
		for i := range 50 {
			w.Conn("a").Create(fmt.Sprintf("/%d", i), nil, 0, zk.WorldACL(zk.PermAll))
		}
		for range 120 {
			for conn, i := w.Conn("b"), 0; i < 100; i++ {
				conn.Exists("/")
			}
			w.Tree("/")
		}
	})
}
