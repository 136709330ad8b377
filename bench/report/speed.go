package main

import (
	"cmp"
	"errors"
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
	floor, err := l.bench(nil, "./fakezk", "Floor", "-cpu", "1")
	if err != nil || len(floor) == 0 {
		return "", cmp.Or(err, errors.New("BenchmarkFloor measures nothing"))
	}
	flags := []string{"-benchtime", "150x", "-cpu", "1,2"}
	hunts, err := l.bench(nil, "./fuzz/hunt", "Hunt", flags...)
	if err != nil {
		return "", err
	}
	return paragraph("Scenarios with 4 clients and 4 rounds, judged, on one core: with the "+
		"collector as users have it, and tuned, with GOGC=1600.") +
		commandBlock(benchShown("./fuzz/scenario", "Scenario", "-cpu", "1")) +
		scenarioTable(big) + "\n" +
		paragraph("The client and the scheduler alone, with as many requests as a scenario of the "+
			"lock has, which an echo answers at once: %s a second. No simulation with this "+
			"client can be faster.", rounded(floor[0].value["scenarios/s"])) +
		commandBlock(benchShown("./fakezk", "Floor", "-cpu", "1")) +
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
		if strings.HasSuffix(load, "/tuned") { // behind the same without
			rows[len(rows)-1][3] = rounded(r.value["scenarios/s"])
			continue
		}
		if load == "faults" {
			load = "up to 4"
		} else {
			load = "none"
		}
		rows = append(rows, []string{workload, load, rounded(r.value["scenarios/s"]), "",
			rounded(r.value["requests/run"])})
	}
	return table([]string{"workload", "faults", "scenarios/s", "tuned", "requests each"}, rows)
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
		"request by request, in one run. The three servers are an ensemble.") +
		commandBlock(benchShown("./fakezk", pattern)) +
		table([]string{"operation", "server, requests/s", "echo, requests/s",
			"time, server / echo", "three servers / one"}, rows), nil
}

// start measures the time from nothing to the first znode.
func start(l *runner) (string, error) {
	const pattern = "Start$"
	again, err := l.bench(nil, "./fakezk", pattern)
	if err != nil {
		return "", err
	}
	ns, err := metric(again, "Start", "ns/op")
	if err != nil {
		return "", err
	}
	out, err := l.measured("./load", "start")
	return paragraph("Time from the start of a server to the first create of a client. The server "+
		"in-process is in memory; in a process that has started it many times it takes %s ms, by "+
		"`%s`.", figure.Milliseconds(time.Duration(ns)), benchShown("./fakezk", pattern)) + out, err
}

// requests measures requests over TCP.
func requests(l *runner) (string, error) {
	out, err := l.measured("./load", "--rounds", "3")
	return paragraph("Two servers in turns: zksim, and ZooKeeper with its data in RAM and without "+
		"fsync. The same Go client program sends the requests. The client uses most of the "+
		"processor time, so the processor time per request is the best comparison of the "+
		"servers.") + out, err
}
