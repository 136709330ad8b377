package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/conform"
	"github.com/zksim/zksim/internal/realzk"
)

// realServer plays the workloads against a real ZooKeeper.
func realServer(l *runner) (string, error) {
	args := []string{"test", "./fuzz/real", "-full", "-count=1", "-v", "-timeout", "3h",
		"-points", "12", "-plans", "6", "-seed", "7"}
	out, err := l.run("go", args...)
	if err != nil {
		return "", err
	}
	_, tally, found := strings.Cut(out, ": seed 7, ")
	if !found {
		return "", errors.New("go test ./fuzz/real counts no runs; is there a ZooKeeper?")
	}
	tally, _, _ = strings.Cut(tally, "\n")
	return paragraph("Each workload without faults, with 12 single faults, and with 6 random "+
		"plans of two or three faults: %s. The test finds the bugs of the wrong recipes.", tally) +
		commandBlock("go "+quoted(args...)), nil
}

// reference is a ZooKeeper with the settings that package conform asks for.
func reference() realzk.Options {
	return realzk.Options{
		TickTime: 2 * time.Second,
		Properties: map[string]string{
			"zookeeper.DigestAuthenticationProvider.superDigest": conform.SuperDigest,
			"zookeeper.enforceQuota":                             "true",
		},
	}
}

// randomOps is the number of random operations that each seed compares.
const randomOps = 100_000

// conformance compares the answers of the built-in server with those of a real one.
func conformance(l *runner) (_ string, err error) {
	server, err := realzk.Launch(l.ctx, reference())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	var operations, differences, unrepeated int
	for seed := 1; seed <= 3; seed++ {
		var report struct {
			Families                []struct{ Operations int }
			Differences, Unrepeated []json.RawMessage
		}
		err := l.askZksim(&report, nil, "conform", "--against", server.Address(),
			"--ops", strconv.Itoa(randomOps), "--seed", strconv.Itoa(seed))
		if err != nil {
			return "", err
		}
		for _, f := range report.Families {
			operations += f.Operations
		}
		differences += len(report.Differences)
		unrepeated += len(report.Unrepeated)
		for _, d := range slices.Concat(report.Differences, report.Unrepeated) {
			fmt.Fprintf(l.log, "seed %d: %s\n", seed, d)
		}
	}
	return paragraph("The fixed scripts and %s random operations, with three seeds: %s "+
		"operations compared, %d differences besides those that the documentation of `conform` "+
		"lists, and %d that did not show again when their script was repeated.",
		thousands(randomOps), thousands(operations), differences, unrepeated) +
		commandBlock(fmt.Sprintf("zksim conform --against HOST:PORT --ops %d --seed N",
			randomOps)), nil
}
