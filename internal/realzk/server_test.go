package realzk

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
)

// answerTo asks a server a word.
func answerTo(t *testing.T, s *Server, word string) string {
	t.Helper()
	answer, err := s.Ask(t.Context(), word)
	check.OK(t, err)
	return answer
}

func TestServerHasItsOptionsAndIsGoneAfterStop(t *testing.T) {
	s := Start(t, Options{
		TickTime:          300 * time.Millisecond,
		MaxSessionTimeout: time.Minute,
		Properties:        map[string]string{"org.slf4j.simpleLogger.defaultLogLevel": "info"},
		Config:            []string{"maxClientCnxns=7"},
	})
	if s.process == nil {
		t.Skip("the server was not started by this package")
	}
	conf := answerTo(t, s, "conf")
	for _, want := range []string{
		"tickTime=300\n", "minSessionTimeout=600\n", "maxSessionTimeout=60000\n",
		"maxClientCnxns=7\n",
	} {
		check.Contains(t, conf, want, "conf")
	}
	if env := answerTo(t, s, "envi"); !strings.Contains(env, "3.8") {
		t.Logf("not a 3.8: %s", env)
	}
	check.Contains(t, s.Log(), "ContainerManager", "log")
	check.OK(t, errors.Join(s.Stop(), s.Stop()))
	if conn, err := net.Dial("tcp", s.Address()); err == nil {
		t.Error("the server still listens", conn.Close())
	}
	if _, err := os.Stat(s.folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestRestartedServerHasItsData(t *testing.T) {
	s := Start(t, Options{Config: []string{"maxClientCnxns=7"}})
	if logs, err := os.ReadDir(s.DataDir() + "/version-2"); err != nil || len(logs) == 0 {
		t.Errorf("the data folder holds %v, %v", logs, err)
	}
	first := s.process
	check.OK(t, s.Restart(t.Context(), time.Millisecond))
	conf := answerTo(t, s, "conf")
	if !strings.Contains(conf, s.DataDir()) || s.process == first {
		t.Errorf("after the restart: %q", conf)
	}
	check.OK(t, errors.Join(s.Stop(), s.Stop()))
	check.Is(t, s.Restart(t.Context(), 0), errNotOurs, "a stopped server")
}

func TestMissingPartsAreNamed(t *testing.T) {
	t.Setenv(givenServer, "")
	t.Setenv("JAVA_HOME", "")
	t.Setenv("PATH", t.TempDir())
	_, err := Launch(t.Context(), Options{})
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "default-jre-headless") {
		t.Errorf("without Java: %v", err)
	}
}

func TestServerThatDoesNotComeUpShowsItsLog(t *testing.T) {
	if _, _, err := find(); err != nil {
		t.Skip(err)
	}
	t.Setenv(givenServer, "")
	folder := t.TempDir()
	_, err := Launch(t.Context(), Options{Folder: folder, Config: []string{"tickTime=often"}})
	if err == nil || errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "often") {
		t.Errorf("got %v, want an error with the log", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRunningServerIsUsedAndLeftAlone(t *testing.T) {
	address := answering(t, "Mode: standalone\n")
	t.Setenv(givenServer, address)
	s, err := Launch(t.Context(), Options{})
	check.OK(t, err)
	if err := s.Stop(); err != nil || s.Address() != address || s.Log() != "" {
		t.Errorf("%q, log %q, stop: %v", s.Address(), s.Log(), err)
	}
}

// answering serves the same text as the answer to each four-letter word, until the
// test ends, and returns its address.
func answering(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	served := make(chan struct{})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
	go func() {
		defer close(served)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if err := answer(conn, text); err != nil {
				t.Errorf("answer a word: %v", err)
			}
		}
	}()
	return l.Addr().String()
}

// answer reads a four-letter word, writes the text and closes.
func answer(conn net.Conn, text string) error {
	_, err := io.ReadFull(conn, make([]byte, 4))
	if err == nil {
		_, err = io.WriteString(conn, text)
	}
	return errors.Join(err, conn.Close())
}

// stranger answers as a ZooKeeper with another data folder.
func stranger(t *testing.T) string {
	t.Helper()
	return answering(t, "clientPort=1\ndataDir=/another/version-2\nMode: standalone\n")
}

func TestStrangerOnThePortIsNotTaken(t *testing.T) {
	address := stranger(t)
	check.Is(t, checkOwn(t.Context(), address, "/mine"), errPortTaken)
	if err := checkOwn(t.Context(), address, "/another"); err != nil {
		t.Errorf("the own server: %v", err)
	}
	ended, err := begin(exec.Command("false"))
	check.OK(t, err)
	<-ended.done
	err = waitUntilServing(t.Context(), address, ended)
	if err == nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("our process has ended, but another serves: %v", err)
	}
}

func TestGivenServerIsForTestsWithoutOptions(t *testing.T) {
	t.Setenv(givenServer, stranger(t))
	skipped := true
	t.Run("with options", func(t *testing.T) {
		Start(t, Options{Config: []string{"maxClientCnxns=3"}})
		skipped = false
	})
	if !skipped {
		t.Error("a given server was taken for one with options")
	}
	Start(t, Options{})
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, waitUntilServing(ctx, "127.0.0.1:1", nil), context.Canceled)
}

func TestTailKeepsTheEnd(t *testing.T) {
	var log tail
	for range 3 {
		if _, err := log.Write([]byte(strings.Repeat("x", tailBytes/2) + "end")); err != nil {
			t.Fatal(err)
		}
	}
	if got := log.String(); len(got) != tailBytes || !strings.HasSuffix(got, "xend") {
		t.Errorf("%d bytes, end %q", len(got), got[len(got)-4:])
	}
}

// TestKilledParentTakesTheServerAlong runs this test binary a second time. That
// process starts a long sleep and is then killed.
func TestKilledParentTakesTheServerAlong(t *testing.T) {
	if os.Getenv("REALZK_TEST_PARENT") != "" {
		parentOfASleep()
		return
	}
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("needs Linux")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledParentTakesTheServerAlong$")
	cmd.Env = append(os.Environ(), "REALZK_TEST_PARENT=1")
	out, err := cmd.StdoutPipe()
	check.OK(t, err)
	check.OK(t, cmd.Start())
	// The child holds the pipe's other end, too: the pipe ends when both have died.
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	check.OK(t, cmd.Process.Kill())
	if _, err := io.ReadAll(out); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the parent ended with status 0, want it killed")
	}
}

// parentOfASleep starts a process that holds this process's standard output, writes
// a byte to it, and waits to be killed.
func parentOfASleep() {
	child := exec.Command("sleep", "60")
	child.ExtraFiles = []*os.File{os.Stdout}
	if _, err := begin(child); err != nil {
		panic(err)
	}
	os.Stdout.WriteString("x")
	select {}
}
