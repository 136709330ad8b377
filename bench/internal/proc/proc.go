// Package proc reads the usage of a process and the description of the machine from /proc. It needs
// Linux.
package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// userHz is the unit of the times in /proc/PID/stat: 100 to the second on every
// Linux that Go runs on, whatever the kernel's own tick is (USER_HZ in proc(5)).
const userHz = 100

// CPUTime is the processor time that a process has used so far, in user and
// kernel mode, all threads together, in steps of 10 ms.
func CPUTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	return parseCPUTime(stat)
}

// parseCPUTime adds fields 14 (utime) and 15 (stime) of a stat file. The second
// field is a name in parentheses, which may contain anything.
func parseCPUTime(stat []byte) (time.Duration, error) {
	_, rest, found := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte(") "))
	fields := strings.Fields(string(rest))
	if !found || len(fields) < 13 {
		return 0, fmt.Errorf("processor time: %q is not a stat file of /proc", stat)
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("processor time: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / userHz, nil
}

// ResidentBytes is the memory of a process that is in RAM (VmRSS), shared pages included.
func ResidentBytes(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read resident memory: %w", err)
	}
	return parseResident(string(status))
}

func parseResident(status string) (int64, error) {
	for line := range strings.Lines(status) {
		value, found := strings.CutPrefix(line, "VmRSS:")
		if !found {
			continue
		}
		digits := strings.TrimSuffix(strings.TrimSpace(value), "kB")
		kB, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("resident memory: %w", err)
		}
		return kB << 10, nil
	}
	return 0, fmt.Errorf("resident memory: no VmRSS in %q", status)
}
