package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A driver is a running program that plays the scripts with the recipes of one library.
// drivers/play_kazoo.py describes its input and output.
type driver struct {
	command *exec.Cmd
	in      io.WriteCloser
	lines   chan []string // closed at the end of its output
	version string
}

// startTime bounds the time until a program is ready, or has connected its clients:
// the machine may be busy, and a JVM may compile its source first.
const startTime = 3 * time.Minute

// errDriver is wrapped by errors about the output of a driver.
var errDriver = errors.New("driver")

// startDriver starts the program and waits until it is ready. It runs until kill.
func startDriver(name string, args ...string) (*driver, error) {
	d := &driver{command: exec.Command(name, args...), lines: make(chan []string, 256)}
	d.command.Stderr = os.Stderr
	var err error
	if d.in, err = d.command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	out, err := d.command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if err := d.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go d.read(out)
	words, err := d.next(startTime)
	if err == nil && words[0] != "ready" {
		err = fmt.Errorf("%w: it prints %q before it is ready", errDriver, words)
	}
	if err != nil {
		d.kill()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	d.version = strings.Join(words[1:], " ")
	return d, nil
}

func (d *driver) read(out io.Reader) {
	defer close(d.lines)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		d.lines <- strings.Split(lines.Text(), "\t")
	}
}

// errQuiet is wrapped by next if a driver has printed nothing in time.
var errQuiet = errors.New("nothing happens")

// next is the next line, as words.
func (d *driver) next(patience time.Duration) ([]string, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case words, ok := <-d.lines:
		if !ok {
			return nil, fmt.Errorf("%w: it has ended", errDriver)
		}
		return words, nil
	case <-timer.C:
		return nil, fmt.Errorf("%w for %s", errQuiet, patience)
	}
}

func (d *driver) send(words ...string) error {
	if _, err := fmt.Fprintln(d.in, strings.Join(words, "\t")); err != nil {
		return fmt.Errorf("%w: %s: %w", errDriver, words[0], err)
	}
	return nil
}

// kill ends the program, whatever it does.
func (d *driver) kill() {
	if err := d.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		fmt.Fprintln(os.Stderr, "others: kill a driver:", err)
	}
	for range d.lines { // its output, until it is closed
	}
	var killed *exec.ExitError
	if err := d.command.Wait(); err != nil && !errors.As(err, &killed) {
		fmt.Fprintln(os.Stderr, "others: wait for a driver:", err)
	}
}
