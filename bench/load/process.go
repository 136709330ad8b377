package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// A process is a program that serves on a port that it chooses and prints.
type process struct {
	cmd     *exec.Cmd
	input   io.WriteCloser
	answers *bufio.Reader
	addr    string
}

// begin starts a program and waits for its first line, which ends with the address. Its standard
// error goes to a.errors, which must accept concurrent writes. The program is killed when a.ctx
// ends.
func begin(a *app, program string, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(a.ctx, program, args...)}
	p.cmd.Stderr = a.errors
	p.cmd.WaitDelay = 5 * time.Second
	var err error
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, p.input.Close())
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.answers = bufio.NewReader(stdout)
	line, err := p.answers.ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) == 0 {

		return nil, fmt.Errorf("%s does not say its address: %w", program,
			errors.Join(err, p.input.Close(), p.cmd.Process.Kill(), p.cmd.Wait()))
	}
	p.addr = words[len(words)-1]
	return p, nil
}

// ask sends one line and waits until the program has echoed it.
func (p *process) ask(line string) error {
	if _, err := fmt.Fprintln(p.input, line); err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	answer, err := p.answers.ReadString('\n')
	if err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	if strings.TrimSpace(answer) != line {
		return fmt.Errorf("%s: the server answers %q", line, answer)
	}
	return nil
}
