package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
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
	s, err := describeReal(z)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start real: %w", err), z.Stop())
	}
	return s, nil
}

func describeReal(z *realzk.Server) (*server, error) {
	version, err := realVersion(z.Address())
	if err != nil {
		return nil, err
	}
	pid, err := javaChild()
	if err != nil {
		return nil, err
	}
	return &server{
		name: serverReal, version: "ZooKeeper " + version, addr: z.Address(), pid: pid,
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

// javaChild is the process ID of the only JVM among the children of this process.
func javaChild() (int, error) {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		return 0, err
	}
	var found []int
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, child := range strings.Fields(string(children)) {
			name, err := os.ReadFile("/proc/" + child + "/comm")
			if err != nil || strings.TrimSpace(string(name)) != "java" {
				continue // the child has ended, or is another program
			}
			pid, err := strconv.Atoi(child)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", list, err)
			}
			found = append(found, pid)
		}
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("%d children are a JVM, expected one; "+
			"a ZooKeeper that runs already (ZKSIM_REAL_ZOOKEEPER) cannot be measured", len(found))
	}
	return found[0], nil
}

// realVersion sends the four-letter word srvr; the first line of its answer has the version.
func realVersion(addr string) (string, error) {
	conn, err := net.DialTimeout("tcp", addr, sessionTimeout)
	if err != nil {
		return "", fmt.Errorf("ask for the version: %w", err)
	}
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return "", fmt.Errorf("ask for the version: %w", errors.Join(err, conn.Close()))
	}
	answer, err := io.ReadAll(conn)
	if err := errors.Join(err, conn.Close()); err != nil {
		return "", fmt.Errorf("ask for the version: %w", err)
	}
	_, version, _ := strings.Cut(string(answer), "version: ")
	version, _, found := strings.Cut(version, "-")
	if !found {
		return "", fmt.Errorf("ask for the version: the server answers %q", answer)
	}
	return version, nil
}
