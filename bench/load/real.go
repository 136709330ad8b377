package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/zksim/zksim/internal/realzk"
)

// startReal starts a real ZooKeeper in its best case (see the package comment).
// The error wraps realzk.ErrMissing where there is none.
func startReal(ctx context.Context) (*server, error) {
	flags, err := defaultJVM()
	if err != nil {
		return nil, err
	}
	z, err := realzk.Launch(ctx, realzk.Options{
		TickTime: 2 * time.Second,
		Config:   []string{"maxClientCnxns=0"},
		JVMFlags: flags,
		Properties: map[string]string{
			"zookeeper.preAllocSize":                 "65536", // KiB, its default
			"org.slf4j.simpleLogger.defaultLogLevel": "off",
		},
	})
	if err != nil {
		return nil, err
	}
	s, err := describeReal(ctx, z)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start real: %w", err), z.Stop())
	}
	return s, nil
}

// describeReal asks a server for its version, by the four-letter word srvr.
func describeReal(ctx context.Context, z *realzk.Server) (*server, error) {
	if z.PID() == 0 {
		return nil, errors.New("a ZooKeeper that runs already (ZKSIM_REAL_ZOOKEEPER) cannot be measured")
	}
	answer, err := z.Ask(ctx, "srvr")
	_, version, _ := strings.Cut(answer, "version: ")
	version, _, found := strings.Cut(version, "-")
	if err != nil || !found {
		return nil, fmt.Errorf("ask for the version: the server answers %q, %v", answer, err)
	}
	return &server{
		name: serverReal, version: "ZooKeeper " + version, addr: z.Address(), pid: z.PID(),
		stop: z.Stop,
	}, nil
}

// defaultJVM undoes the settings of realzk for short tests: it allows both compilers, the collector
// that the JVM chooses, and a quarter of the machine's memory as the largest heap.
func defaultJVM() ([]string, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return nil, fmt.Errorf("size of the heap: %w", err)
	}
	var name string
	var kB int64
	if _, err := fmt.Sscan(string(text), &name, &kB); err != nil || name != "MemTotal:" {
		return nil, fmt.Errorf("size of the heap: /proc/meminfo begins with %q, not MemTotal", name)
	}
	heap := fmt.Sprintf("-Xmx%dk", kB/4)
	return []string{"-XX:TieredStopAtLevel=4", "-XX:-UseSerialGC", heap}, nil
}
