package main

import (
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/zksim/zksim/bench/internal/figure"
	"github.com/zksim/zksim/bench/internal/proc"
)

// memory measures the server's memory for znodes and connections.
func memory(l *runner) (string, error) {
	out, err := l.run("go", "run", "-C", "bench", "./load", "memory", "--markdown")
	if err != nil {
		return "", err
	}
	const state = "./fakezk/internal/state"
	idle, err := l.bench(nil, "./fakezk", "Idle", "-benchtime", "1x")
	if err != nil {
		return "", err
	}
	perConn, err := metric(idle, "IdleConnection", "B/conn")
	if err != nil {
		return "", err
	}
	tree, err := l.bench(nil, state, "Memory", "-benchtime", "1x")
	if err != nil {
		return "", err
	}
	perNode, err := metric(tree, "Memory", "B/znode")
	if err != nil {
		return "", err
	}
	return paragraph("Resident memory of the server's process.") +
		commandBlock("go run -C bench ./load memory") + out + "\n" +
		paragraph("On the Go heap of the server, an idle TCP connection with its session takes "+
			"%s KB. A znode of a tree with a million takes %s bytes, without its data.",
			figure.Significant(perConn/1000), rounded(perNode)) +
		commandBlock(benchShown("./fakezk", "Idle"), benchShown(state, "Memory")), nil
}

// attacks measures what one hostile client costs the others.
func attacks(l *runner) (string, error) {
	out, err := l.run("go", "run", "-C", "bench", "./load", "attack", "--markdown")
	if err != nil {
		return "", err
	}
	return paragraph("One client sends an attack, another one pings without a pause and waits for "+
		"the longest ping. The memory is that of the server's process, at its highest.") +
		commandBlock("go run -C bench ./load attack") + out, nil
}

const (
	// huntTime is how long the long hunt lasts.
	huntTime = 61 * time.Minute
	// sampleTime is the time between two looks at its memory.
	sampleTime = 10 * time.Second
)

// longHunt measures the resident memory of a hunt of an hour.
func longHunt(l *runner) (string, error) {
	if err := l.build(); err != nil {
		return "", err
	}
	args := []string{"fuzz", "queue", "--impl", "recipes.Queue", "--for", huntTime.String(),
		"--seed", "1001"}
	fmt.Fprintln(l.log, "zksim", args)
	cmd := exec.CommandContext(l.ctx, l.zksim, args...)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	sizes, err := sampleMemory(cmd.Process.Pid, ended)
	if err != nil {
		return "", err
	}
	rows := [][]string{}
	for _, part := range []int{1, 2, 3, 4} {
		quarter := sizes[len(sizes)*(part-1)/4 : len(sizes)*part/4]
		rows = append(rows, []string{fmt.Sprintf("%d of 4", part),
			figure.Mebibytes(figure.Median(quarter))})
	}
	return paragraph("Median resident memory in each quarter of a hunt.") +
		commandBlock("zksim "+quoted(args...)) +
		table([]string{"quarter", "MiB"}, rows), nil
}

// sampleMemory reads the resident memory of a process until it ends.
func sampleMemory(pid int, ended <-chan error) ([]int64, error) {
	tick := time.NewTicker(sampleTime)
	defer tick.Stop()
	var sizes []int64
	for {
		select {
		case err := <-ended:
			if err == nil && len(sizes) < 4 {
				err = errors.New("the hunt has ended too early")
			}
			return sizes, err
		case <-tick.C:
			size, err := proc.ResidentBytes(pid)
			if err != nil {
				continue // it is ending
			}
			sizes = append(sizes, size)
		}
	}
}
