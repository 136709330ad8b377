package fourletter_test

import (
	"regexp"
	"slices"
	"strings"
)

// statistic is a line of mntr with one value of a metric that has several.
var statistic = regexp.MustCompile(`^zk_(avg|min|max|cnt|sum|p\d+)_(\w+)(\t.*)$`)

// compact puts the values of a metric on one line.
func compact(text string) string {
	var lines []string
	metric := ""
	for line := range strings.SplitSeq(text, "\n") {
		m := statistic.FindStringSubmatch(line)
		switch {
		case m == nil:
			lines, metric = append(lines, line), ""
		case m[2] == metric:
			lines[len(lines)-1] += "\t" + m[1] + m[3]
		default:
			lines, metric = append(lines, "zk_*_"+m[2]+"\t"+m[1]+m[3]), m[2]
		}
	}
	return strings.Join(lines, "\n")
}

// changes returns the lines of a transcript that are not in that of the idle server, word by word.
// A line of the idle server that is missing comes last, with a minus, unless another line begins
// with the same name.
func changes(text, idle string) string {
	var out []string
	before := strings.Split(idle, "=== ")
	for i, section := range strings.Split(text, "=== ") {
		lines, old := strings.Split(section, "\n"), strings.Split(before[i], "\n")
		names := map[string]bool{}
		var news []string
		for _, line := range lines[1:] {
			names[nameOf(line)] = true
			if !slices.Contains(old, line) {
				news = append(news, line)
			}
		}
		for _, line := range old[1:] {
			if !names[nameOf(line)] {
				news = append(news, "-"+line)
			}
		}
		if len(news) > 0 {
			out = append(append(out, "=== "+lines[0]), news...)
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// nameOf is the part of a line before its value.
func nameOf(line string) string {
	if end := strings.IndexAny(line, ":=\t("); end > 0 {
		return line[:end]
	}
	return line
}
