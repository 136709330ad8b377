package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/bench/internal/figure"
)

// A cell is one operation at one number of connections.
type cell struct {
	Op      string
	Conns   int
	Servers map[string]summary
	// OursTo has, by the name of another server, the requests that ours answers for each request
	// that the other one answers.
	OursTo map[string]float64
}

func newCell(op string, conns int, rounds map[string][]sample) cell {
	c := cell{Op: op, Conns: conns, Servers: map[string]summary{}, OursTo: map[string]float64{}}
	for name, samples := range rounds {
		c.Servers[name] = summarize(samples)
		if name != serverOurs {
			c.OursTo[name] = ratio(rounds[serverOurs], samples)
		}
	}
	return c
}

// report lays the cells out as a table.
func (c *compareCommand) report(servers []*server, cells []cell, missing string,
	took time.Duration) (report, error) {
	machine, err := machine(servers)
	var names []string
	for _, s := range servers {
		names = append(names, s.name)
	}
	r := report{
		Notes: []string{
			fmt.Sprintf("Servers: %s. Medians of %d rounds of %s, taking turns; "+
				"goroutines per connection: %d; data: %d bytes.",
				strings.Join(names, " / "), c.Rounds, c.RoundTime, goroutinesPerConn, dataBytes),
			fmt.Sprintf("%s Measured in %s.", machine, took.Round(time.Second)),
		},
		Header: []string{"operation", "connections"},
	}
	if missing != "" {
		r.Notes = append(r.Notes, missing)
	}
	columns := columnsFor(names)
	for _, col := range columns {
		r.Header = append(r.Header, col.title)
	}
	for _, cell := range cells {
		row := []string{cell.Op, strconv.Itoa(cell.Conns)}
		for _, col := range columns {
			row = append(row, col.show(cell))
		}
		r.Rows = append(r.Rows, row)
	}
	return r, err
}

// A column shows one figure of a cell.
type column struct {
	title string
	show  func(cell) string
}

func columnsFor(names []string) []column {
	each := func(title string, show func(summary) string) column {
		return column{title, func(c cell) string {
			var shown []string
			for _, name := range names {
				shown = append(shown, show(c.Servers[name]))
			}
			return strings.Join(shown, " / ")
		}}
	}
	rate := func(s summary) string { return figure.Thousands(s.Rate) }
	columns := []column{each("requests/s", rate)}
	if slices.Contains(names, serverOurs) {
		for _, name := range names {
			if name != serverOurs {
				ratio := func(c cell) string { return figure.Significant(c.OursTo[name]) }
				columns = append(columns, column{"ours/" + name, ratio})
			}
		}
	}
	return append(columns,
		each("p50 ms", func(s summary) string { return figure.Milliseconds(s.P50) }),
		each("p99 ms", func(s summary) string { return figure.Milliseconds(s.P99) }),
		each("server CPU µs/request",
			func(s summary) string { return figure.Microseconds(s.ServerCPU) }),
		each("client CPU µs/request",
			func(s summary) string { return figure.Microseconds(s.ClientCPU) }),
	)
}
