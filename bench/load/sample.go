package main

import (
	"time"

	"github.com/zksim/zksim/bench/internal/figure"
)

// A sample is the measurement of one round of one server.
type sample struct {
	Requests  int
	Elapsed   time.Duration
	P50       time.Duration
	P99       time.Duration
	ServerCPU time.Duration
	ClientCPU time.Duration
}

// rate is requests per second.
func (s sample) rate() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Requests) / s.Elapsed.Seconds()
}

// A summary summarizes the rounds of one server and one cell.
type summary struct {
	Rate      float64
	P50       time.Duration
	P99       time.Duration
	ServerCPU time.Duration
	ClientCPU time.Duration
	Rounds    []sample
}

// summarize takes medians over the rounds, and processor time per request over
// all of them together, as its unit is too coarse for one round.
func summarize(rounds []sample) summary {
	var rates []float64
	var p50s, p99s []time.Duration
	var total sample
	for _, s := range rounds {
		rates, p50s, p99s = append(rates, s.rate()), append(p50s, s.P50), append(p99s, s.P99)
		total.Requests += s.Requests
		total.ServerCPU += s.ServerCPU
		total.ClientCPU += s.ClientCPU
	}
	requests := time.Duration(max(total.Requests, 1))
	return summary{
		Rate: figure.Median(rates), P50: figure.Median(p50s), P99: figure.Median(p99s),
		ServerCPU: total.ServerCPU / requests, ClientCPU: total.ClientCPU / requests,
		Rounds: rounds,
	}
}

// ratio divides the rate of one server by the rate of another one, in each round, and returns the
// median, or 0 if there is nothing to compare.
func ratio(of, by []sample) float64 {
	var ratios []float64
	for i := range min(len(of), len(by)) {
		if r := by[i].rate(); r > 0 {
			ratios = append(ratios, of[i].rate()/r)
		}
	}
	return figure.Median(ratios)
}
