package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/bench/internal/figure"
)

// speed measures scenarios per second.
func speed(l *runner) (string, error) {
	big, err := l.bench(nil, "./fuzz/scenario", "Scenario", "-cpu", "1")
	if err != nil {
		return "", err
	}
	flags := []string{"-benchtime", "150x", "-cpu", "1,2"}
	hunts, err := l.bench(nil, "./fuzz/hunt", "Hunt", flags...)
	if err != nil {
		return "", err
	}
	return paragraph("Scenarios with 4 clients and 4 rounds, judged, on one core.") +
		commandBlock(benchShown("./fuzz/scenario", "Scenario", "-cpu", "1")) +
		scenarioTable(big) + "\n" +
		paragraph("Hunts with all strategies, 3 clients and 2 rounds: scenarios per second on "+
			"one core and on two, and virtual seconds per second on one core.") +
		commandBlock(benchShown("./fuzz/hunt", "Hunt", flags...)) + huntTable(hunts), nil
}

// benchShown is the command of bench as the page shows it.
func benchShown(pkg, pattern string, flags ...string) string {
	return "go " + quoted(benchCommand(pkg, pattern, flags...)...)
}

func scenarioTable(results []result) string {
	var rows [][]string
	for _, r := range results {
		workload, load, _ := strings.Cut(strings.TrimPrefix(r.name, "Scenario/"), "/")
		if load == "faults" {
			load = "up to 4"
		} else {
			load = "none"
		}
		rows = append(rows, []string{workload, load, rounded(r.value["scenarios/s"]),
			rounded(r.value["requests/run"])})
	}
	return table([]string{"workload", "faults", "scenarios/s", "requests each"}, rows)
}

// huntTable has a row for each workload, in the order of the results.
func huntTable(results []result) string {
	var names []string
	rates := map[string]map[int]result{} // by name and number of processors
	for _, r := range results {
		if rates[r.name] == nil {
			names = append(names, r.name)
			rates[r.name] = map[int]result{}
		}
		rates[r.name][r.procs] = r
	}
	var rows [][]string
	for _, name := range names {
		workload, impl, _ := strings.Cut(strings.TrimPrefix(name, "Hunt/"), "/")
		one, two := rates[name][1].value, rates[name][2].value
		rows = append(rows, []string{workload, "`" + impl + "`", rounded(one["scenarios/s"]),
			rounded(two["scenarios/s"]), rounded(one["virtual-s/s"])})
	}
	return table([]string{"workload", "implementation", "one core", "two cores",
		"virtual s per s"}, rows)
}

func rounded(x float64) string { return figure.Thousands(x) }

// inMemory measures the requests of one client through the in-memory connection.
func inMemory(l *runner) (string, error) {
	const pattern = "Share|Requests|Echo"
	results, err := l.bench(nil, "./fakezk", pattern)
	if err != nil {
		return "", err
	}
	var rows [][]string
	for _, op := range []string{"exists", "set"} {
		var row []string
		for _, m := range []struct{ bench, unit string }{
			{"Requests", "requests/s"}, {"Echo", "requests/s"}, {"ServerShare", "server/echo"}, {"EnsembleShare", "three/one"},
		} {
			x, err := metric(results, m.bench+"/"+op, m.unit)
			if err != nil {
				return "", err
			}
			if m.unit == "requests/s" {
				row = append(row, rounded(x))
			} else {
				row = append(row, figure.Significant(x))
			}
		}
		rows = append(rows, append([]string{op}, row...))
	}
	return paragraph("One client sends requests one after the other over an in-memory connection. "+
		"The echo sends the same empty reply to every request. For the ratios the two take turns, "+
		"request by request, in one run; three are an ensemble of three servers.") +
		commandBlock(benchShown("./fakezk", pattern)) +
		table([]string{"operation", "server, requests/s", "echo, requests/s",
			"time, server / echo", "three servers / one"}, rows), nil
}

// start measures the time from nothing to the first znode.
func start(l *runner) (string, error) {
	var starts []struct {
		Server string          `json:"server"`
		Took   []time.Duration `json:"took_ns"`
	}
	if err := l.askLoad(&starts, "start"); err != nil {
		return "", err
	}
	again, err := l.bench(nil, "./fakezk", "Start$")
	if err != nil {
		return "", err
	}
	ns, err := metric(again, "Start", "ns/op")
	if err != nil {
		return "", err
	}
	var rows [][]string
	for _, s := range starts {
		rows = append(rows, []string{s.Server, figure.Milliseconds(figure.Median(s.Took)),
			figure.Milliseconds(slices.Min(s.Took)), figure.Milliseconds(slices.Max(s.Took))})
	}
	return paragraph("Time from the start of a server to the first create of a client. The server "+
		"in-process is in memory; in a process that has started it many times it takes %s ms.",
		figure.Milliseconds(time.Duration(ns))) +
		commandBlock("go run -C bench ./load start", benchShown("./fakezk", "Start$")) +
		table([]string{"server", "median ms", "fastest ms", "slowest ms"}, rows), nil
}

// A cell is the measurement by the command load of one operation at one number of connections.
type cell struct {
	Op      string             `json:"op"`
	Conns   int                `json:"connections"`
	OursTo  map[string]float64 `json:"ours_to"`
	Servers map[string]struct {
		Rate float64       `json:"requests_per_second"`
		P50  time.Duration `json:"p50_ns"`
		P99  time.Duration `json:"p99_ns"`
		CPU  time.Duration `json:"server_cpu_per_request_ns"`
	} `json:"servers"`
}

// requests measures requests over TCP.
func requests(l *runner) (string, error) {
	var cells []cell
	if err := l.askLoad(&cells, "--rounds", "3"); err != nil {
		return "", err
	}
	if len(cells) == 0 || len(cells[0].Servers) != 2 {
		return "", fmt.Errorf("a server is missing; is there a ZooKeeper?")
	}
	return paragraph("Two servers in turns: zksim, and ZooKeeper with its data in RAM and "+
		"without fsync. The same Go client program sends the requests, with eight goroutines on "+
		"each connection. The figures are medians of three rounds of a second. Columns without a "+
		"number of connections are for %d. The client uses most of the processor time, so the "+
		"processor time per request is the best comparison of the servers.", shownConns) +
		commandBlock("go run -C bench ./load --rounds 3") + requestTable(cells), nil
}

// shownConns is the number of connections of the columns that show one only.
const shownConns = 16

func requestTable(cells []cell) string {
	header := []string{"operation", "requests/s ours / real",
		"of the real one, 1 / 16 / 128 connections",
		"p50 ms", "p99 ms", "CPU µs per request"}
	var ops []string
	for _, c := range cells {
		if !slices.Contains(ops, c.Op) {
			ops = append(ops, c.Op)
		}
	}
	var rows [][]string
	for _, op := range ops {
		rows = append(rows, requestRow(op, cells))
	}
	return table(header, rows)
}

func requestRow(op string, cells []cell) []string {
	var real, rate, p50, p99, cpu []string
	for _, c := range cells {
		if c.Op != op {
			continue
		}
		real = append(real, strconv.FormatFloat(c.OursTo["real"], 'f', 1, 64)+"x")
		if c.Conns != shownConns {
			continue
		}
		for _, name := range []string{"ours", "real"} {
			s := c.Servers[name]
			rate, cpu = append(rate, rounded(s.Rate)), append(cpu, figure.Microseconds(s.CPU))
			p50 = append(p50, figure.Milliseconds(s.P50))
			p99 = append(p99, figure.Milliseconds(s.P99))
		}
	}
	row := []string{op}
	for _, figures := range [][]string{rate, real, p50, p99, cpu} {
		row = append(row, strings.Join(figures, " / "))
	}
	return row
}
