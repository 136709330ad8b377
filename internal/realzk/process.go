package realzk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// process is a command that runs until it is killed.
type process struct {
	cmd  *exec.Cmd
	log  tail
	done chan struct{} // closed once it has ended
	err  error         // how, readable after done
}

// begin starts a command. The goroutine that starts it keeps its thread until
// the command has ended: the signal that a child gets at its parent's death is
// bound to the parent's thread.
func begin(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	detach(cmd)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	return p, <-started
}

// kill ends the process and its children and waits for its end.
func (p *process) kill() {
	select {
	case <-p.done:
	default:
		killGroup(p.cmd)
		<-p.done
	}
}

// waitUntilServing asks for isro until the server says that it serves, the
// process ends (p may be nil) or ctx is done.
func waitUntilServing(ctx context.Context, address string, p *process) error {
	var ended chan struct{} // nil: never
	if p != nil {
		ended = p.done
	}
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := serves(ctx, address)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("it ended by itself (%w):\n%s", p.err, p.log.String())
		case <-ctx.Done():
			return fmt.Errorf("no answer at %s: %w", address, errors.Join(ctx.Err(), err))
		case <-time.After(pause):
		}
	}
}

// serves asks one four-letter word, srvr, the only one enabled by default.
func serves(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // ends the read
	defer func() { _ = conn.Close() }()                         // all was read
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return err
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return err
	}
	if !strings.Contains(string(answer), "Mode: ") {
		return fmt.Errorf("srvr: answered %q", answer)
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 64 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailBytes; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
