package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Two hundred commands of the scripts have wrong input, and starting a process takes longer than
// finding that out. So one process, inTurn, runs these commands one after the other.

// inTurn is the process.
var inTurn struct {
	sync.Mutex
	requests *json.Encoder
	answers  *json.Decoder
	end      func() error
}

// inTurnRequest and inTurnAnswer are a zksim command and its outcome.
type (
	inTurnRequest struct {
		Dir  string
		Args []string
	}
	inTurnAnswer struct {
		Status         int
		Stdout, Stderr string
	}
)

// runInTurn runs zksim in the directory of the script.
func runInTurn(ts *testscript.TestScript, args []string) (answer inTurnAnswer) {
	inTurn.Lock()
	defer inTurn.Unlock()
	if inTurn.requests == nil {
		cmd := exec.Command("inturn")
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		ts.Check(err)
		out, err := cmd.StdoutPipe()
		ts.Check(err)
		ts.Check(cmd.Start())
		inTurn.requests, inTurn.answers = json.NewEncoder(in), json.NewDecoder(out)
		inTurn.end = func() error {
			_ = in.Close() // it ends the process
			return cmd.Wait()
		}
	}
	ts.Check(inTurn.requests.Encode(inTurnRequest{ts.MkAbs("."), args}))
	ts.Check(inTurn.answers.Decode(&answer))
	_, err := io.WriteString(ts.Stdout(), answer.Stdout)
	ts.Check(err)
	_, err = io.WriteString(ts.Stderr(), answer.Stderr)
	ts.Check(err)
	return answer
}

// endInTurn ends the process at the end of a test.
func endInTurn(t *testing.T) {
	t.Cleanup(func() {
		inTurn.Lock()
		defer inTurn.Unlock()
		if inTurn.requests == nil {
			return
		}
		inTurn.requests = nil
		if err := inTurn.end(); err != nil {
			t.Errorf("the process for wrong input: %v", err)
		}
	})
}

// serveInTurn is the main function of the process.
func serveInTurn() {
	requests, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var r inTurnRequest
		err := requests.Decode(&r)
		if err == io.EOF {
			return
		}
		if err == nil {
			err = os.Chdir(r.Dir)
		}
		if err != nil {
			panic(err)
		}
		var a inTurnAnswer
		var stdout, stderr bytes.Buffer
		a.Status = program{name: "zksim"}.run(context.Background(), r.Args, &stdout, &stderr)
		a.Stdout, a.Stderr = stdout.String(), stderr.String()
		if err := answers.Encode(a); err != nil {
			panic(err)
		}
	}
}
