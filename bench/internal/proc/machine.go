package proc

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Machine describes the machine by its number of cores and the model of its
// processor, and the Go release.
func Machine() (string, error) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "", fmt.Errorf("describe the machine: %w", err)
	}
	return fmt.Sprintf("%d cores, %s, %s", runtime.NumCPU(), model(string(info)),
		runtime.Version()), nil
}

// model is the first model name in /proc/cpuinfo. Not every architecture has one.
func model(info string) string {
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// LoadAverage is the average number of running processes of the last minute.
func LoadAverage() (float64, error) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, fmt.Errorf("read the load of the machine: %w", err)
	}
	first, _, _ := strings.Cut(string(text), " ")
	return strconv.ParseFloat(first, 64)
}
