package main

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A result is one line of go test -bench.
type result struct {
	name  string // without "Benchmark" and the number of processors
	procs int
	value map[string]float64 // by unit
}

// benchLine is a name, a number of iterations, and pairs of a value and a unit.
var benchLine = regexp.MustCompile(`(?m)^Benchmark(\S+?)(?:-(\d+))?\s+\d+\s+(.*)$`)

// parseBench reads the output of go test -bench.
func parseBench(out string) ([]result, error) {
	var results []result
	for _, m := range benchLine.FindAllStringSubmatch(out, -1) {
		r := result{name: m[1], value: map[string]float64{}}
		var err error
		if r.procs, err = strconv.Atoi(cmp.Or(m[2], "1")); err != nil {
			return nil, fmt.Errorf("benchmark %s: %w", r.name, err)
		}
		fields := strings.Fields(m[3])
		for i := 0; i+1 < len(fields); i += 2 {
			x, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("benchmark %s: %w", r.name, err)
			}
			r.value[fields[i+1]] = x
		}
		results = append(results, r)
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("no benchmark in %q", out)
	}
	return results, nil
}

// bench runs the benchmarks of a package that match a pattern.
func (l *runner) bench(env []string, pkg, pattern string, flags ...string) ([]result, error) {
	out, err := l.output(env, "go", benchCommand(pkg, pattern, flags...)...)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return parseBench(out)
}

// benchCommand is the arguments of go for bench.
func benchCommand(pkg, pattern string, flags ...string) []string {
	return append([]string{"test", pkg, "-run", "^$", "-bench", pattern}, flags...)
}

// metric is the value of one benchmark by its name and unit.
func metric(results []result, name, unit string) (float64, error) {
	for _, r := range results {
		if x, ok := r.value[unit]; ok && r.name == name {
			return x, nil
		}
	}
	return 0, fmt.Errorf("benchmark %s reports no %s", name, unit)
}
