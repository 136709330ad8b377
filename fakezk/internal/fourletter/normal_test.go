package fourletter_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// normal replaces the parts of a transcript that differ between servers: ids, addresses, times and
// sizes of the process. It sorts lists with an order that follows from addresses in memory.
func normal(text string, s side) string {
	for name, id := range s.sessions() {
		text = strings.ReplaceAll(text, fmt.Sprintf("0x%x", uint64(id)), "<"+name+">")
	}
	for name, addr := range s.addresses() {
		text = strings.ReplaceAll(text, addr, "<"+name+"'s>")
	}
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.becomes)
	}
	sections := strings.Split(text, "=== ")
	for i, section := range sections {
		switch {
		case strings.HasPrefix(section, "cons"), strings.HasPrefix(section, "stat"):
			sections[i] = sortRuns(section, isConn)
		case strings.HasPrefix(section, "wchc"), strings.HasPrefix(section, "dump"):
			sections[i] = sortRuns(sortBlocks(section), isTabbedID)
		case strings.HasPrefix(section, "wchp"):
			sections[i] = sortRuns(section, isTabbedID)
		}
	}
	return strings.Join(sections, "=== ")
}

var varying = []struct {
	pattern *regexp.Regexp
	becomes string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "<asker's>"},
	{regexp.MustCompile(`Sets \(\d+\)`), "Sets (N)"},
	// The sets of sessions that expire together depend on the time within a tick.
	{regexp.MustCompile(`(?m)^\d+ expire at \w{3} \w{3} \d\d \d\d:\d\d:\d\d UTC \d{4}:\n`), ""},
	{regexp.MustCompile(`\b(est|lresp)=\d{5,}`), "$1=N"},
	{regexp.MustCompile(`\b(llat|minlat|avglat|maxlat)=\d+`), "$1=N"},
	{regexp.MustCompile(`Latency min/avg/max: \d+/\d+\.\d+/\d+`), "Latency min/avg/max: N/N.N/N"},
	{
		regexp.MustCompile(`(?m)^(clientPort|data(?:Log)?Size|data(?:Log)?Dir(?:Size)?)=` +
			`(-?\d+$|/[^\n]*/version-2$)`),
		"$1=V",
	},
	{regexp.MustCompile(`(?m)^(data|log)dir_size: \d+$`), "${1}dir_size: N"},
	{regexp.MustCompile(`(?m)^zk_(uptime|open_file_descriptor_count|max_file_descriptor_count)\t\d+$`), "zk_$1\tN"},
	{regexp.MustCompile(`(?m)^zk_(avg|min|max)_latency\t\d+(\.\d+)?$`), "zk_${1}_latency\tN"},
	// Durations and lengths of queues; their counts stay.
	{
		regexp.MustCompile(`(?m)^zk_(avg|min|max|sum|p\d+)_` +
			`(\w*(?:time|time_ms|latency|queue_size))\t\d+(\.\d+)?$`),
		"zk_${1}_$2\tN",
	},
	// Caches, and changes that are not yet flushed.
	{regexp.MustCompile(`(?m)^zk_(outstanding_changes_\w+|response_packet_\w*cache_\w+)\t\d+$`), "zk_$1\tN"},
	{regexp.MustCompile(`(?m)^((?:java|os|user|host)\.[\w.]+)=.*$`), "$1=V"},
}

func isConn(l string) bool { return strings.HasPrefix(l, " /") }

func isTabbedID(l string) bool {
	return strings.HasPrefix(l, "\t<") || strings.HasPrefix(l, "\tip: ")
}

// sortRuns sorts each run of consecutive lines of a kind.
func sortRuns(section string, kind func(string) bool) string {
	lines := strings.Split(section, "\n")
	for i := 0; i < len(lines); i++ {
		end := i
		for end < len(lines) && kind(lines[end]) {
			end++
		}
		slices.Sort(lines[i:end])
		i = max(i, end-1)
	}
	return strings.Join(lines, "\n")
}

// sortBlocks sorts blocks, each a session's line with the tabbed lines below it.
func sortBlocks(section string) string {
	var out, blocks []string
	flush := func() {
		slices.Sort(blocks)
		out = append(out, blocks...)
		blocks = nil
	}
	for l := range strings.SplitSeq(section, "\n") {
		switch {
		case strings.HasPrefix(l, "<"):
			blocks = append(blocks, l)
		case strings.HasPrefix(l, "\t") && len(blocks) > 0:
			blocks[len(blocks)-1] += "\n" + l
		default:
			flush()
			out = append(out, l)
		}
	}
	flush()
	return strings.Join(out, "\n")
}
