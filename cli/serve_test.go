package cli

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/zksim/zksim/internal/check"
)

// TestServeScripts runs the transcripts of testdata/serve: zksim serve as its own process.
func TestServeScripts(t *testing.T) {
	endInTurn(t)
	dataDir, err := filepath.Abs("../fakezk/tree/testdata/datadir")
	check.OK(t, err)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/serve",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"json":    checkJSON,
			"fails":   checkFails,
			"serve":   startServe,
			"quit":    quitServe,
			"control": callControl,
		},
		Setup: func(env *testscript.Env) error {
			env.Values[servedKey{}] = &served{}
			env.Setenv("DATADIR", dataDir)
			return nil
		},
		RequireUniqueNames: true,
	})
}

// servedKey is the key under which a script has its server.
type servedKey struct{}

// served is a zksim serve that a script began.
type served struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	rest           chan struct{} // closed when stdout is read to its end
}

// startServe starts zksim serve and waits until it listens: serve ARGS... .
// $ADDR and $CONTROL are the addresses it tells.
func startServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serve ARGS...")
	}
	self, err := os.Executable()
	ts.Check(err)
	s := ts.Value(servedKey{}).(*served)
	*s = served{cmd: exec.Command(self), rest: make(chan struct{})}
	// the test's binary is zksim by that name
	s.cmd.Args = slices.Concat([]string{"zksim", "serve"}, args)
	s.cmd.Dir = ts.MkAbs(".")
	s.cmd.Stderr = &s.stderr
	stdout, err := s.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(s.cmd.Start())
	ts.Defer(func() { _ = s.end(os.Kill) }) // a script that stopped it has seen how it ended
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		s.stdout.WriteString(line)
		if err != nil {
			break
		}
		if addr, ok := strings.CutPrefix(line, "control on "); ok {
			ts.Setenv("CONTROL", strings.TrimSpace(addr))
		}
		if addr, ok := strings.CutPrefix(line, "listening on "); ok {
			ts.Setenv("ADDR", strings.TrimSpace(addr))
			break
		}
	}
	go func() {
		defer close(s.rest)
		_, _ = io.Copy(&s.stdout, lines) // the end of the process ends it
	}()
	if ts.Getenv("ADDR") == "" {
		ts.Fatalf("zksim serve does not listen: %v\n%s", s.end(os.Kill), s.stderr.String())
	}
}

// end sends a signal and waits for the process.
func (s *served) end(sig os.Signal) error {
	if s.cmd.ProcessState != nil {
		return nil
	}
	_ = s.cmd.Process.Signal(sig) // it may have ended by itself
	<-s.rest
	return s.cmd.Wait()
}

// quitServe sends a signal, TERM or INT, waits and checks the exit status: quit SIGNAL STATUS. The
// output of the server is in the files served.out and served.err.
func quitServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: quit SIGNAL STATUS")
	}
	sig, ok := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt}[args[0]]
	s := ts.Value(servedKey{}).(*served)
	if !ok || s.cmd == nil {
		ts.Fatalf("quit: no signal %s or no server", args[0])
	}
	err := s.end(sig)
	ts.Check(os.WriteFile(ts.MkAbs("served.out"), s.stdout.Bytes(), 0o666))
	ts.Check(os.WriteFile(ts.MkAbs("served.err"), s.stderr.Bytes(), 0o666))
	if got := exitStatus(err); strconv.Itoa(got) != args[1] {
		ts.Fatalf("exit status %d; want %s\n%s", got, args[1], s.stderr.String())
	}
	ts.Setenv("ADDR", "")
}

// callControl asks the control endpoint: control STATUS METHOD PATH [BODY]. BODY
// is text, or a file after @. The answer is in the file reply.
func callControl(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 && len(args) != 4 {
		ts.Fatalf("usage: control STATUS METHOD PATH [BODY]")
	}
	var body string
	if len(args) == 4 {
		body = args[3]
	}
	if name, ok := strings.CutPrefix(body, "@"); ok {
		body = ts.ReadFile(name)
	}
	req, err := http.NewRequest(args[1], "http://"+ts.Getenv("CONTROL")+args[2],
		strings.NewReader(body))
	ts.Check(err)
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	reply, err := io.ReadAll(res.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("reply"), reply, 0o666))
	if strconv.Itoa(res.StatusCode) != args[0] {
		ts.Fatalf("status %d; want %s\n%s", res.StatusCode, args[0], reply)
	}
}
