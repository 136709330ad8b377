package main

import (
	"math"
	"slices"
	"time"
)

// percentile is the smallest value such that at least p percent of the values
// are not above it (nearest rank), or 0 without values. The values are in
// ascending order.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// median is the middle value, or the mean of the two in the middle; 0 without
// values. It leaves the order of its argument alone.
func median[T ~int64 | ~float64](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// A sample is what one round of one server measured.
type sample struct {
	Requests  int           `json:"requests"`
	Elapsed   time.Duration `json:"elapsed_ns"`
	P50       time.Duration `json:"p50_ns"`
	P99       time.Duration `json:"p99_ns"`
	ServerCPU time.Duration `json:"server_cpu_ns"`
	ClientCPU time.Duration `json:"client_cpu_ns"`
}

// rate is requests per second.
func (s sample) rate() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Requests) / s.Elapsed.Seconds()
}

// A summary is what the rounds of one server and one cell come to.
type summary struct {
	Rate      float64       `json:"requests_per_second"`
	P50       time.Duration `json:"p50_ns"`
	P99       time.Duration `json:"p99_ns"`
	ServerCPU time.Duration `json:"server_cpu_per_request_ns"`
	ClientCPU time.Duration `json:"client_cpu_per_request_ns"`
	Rounds    []sample      `json:"rounds"`
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
		Rate: median(rates), P50: median(p50s), P99: median(p99s),
		ServerCPU: total.ServerCPU / requests, ClientCPU: total.ClientCPU / requests,
		Rounds: rounds,
	}
}

// ratio is the median over the rounds of the rates of one server by those of
// another in the same round, or 0 if there is nothing to compare.
func ratio(of, by []sample) float64 {
	var ratios []float64
	for i := range min(len(of), len(by)) {
		if r := by[i].rate(); r > 0 {
			ratios = append(ratios, of[i].rate()/r)
		}
	}
	return median(ratios)
}
