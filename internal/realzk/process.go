package realzk

import (
	"os/exec"
	"runtime"
	"sync"
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
