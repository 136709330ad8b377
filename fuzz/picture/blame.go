package picture

import (
	"slices"
	"strings"

	"github.com/zksim/zksim/linearizability"
)

// blamed are the znodes to blame for the violations: those that a summary names, those that were
// changed at a step that a summary names, and those of the holds that were granted at such a step.
func (r reader) blamed() []string {
	paths := []string{}
	add := func(path string) {
		if path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, v := range r.Verdicts() {
		if v.Status != linearizability.Violated {
			continue
		}
		wrong := wrongPart(v.Summary)
		for _, c := range r.Result.Changes {
			if path := r.rename(c.Path); slices.Contains(v.Steps, c.Step) || names(wrong, path) {
				add(path)
			}
		}
		for _, h := range r.Report.Holds {
			if slices.Contains(v.Steps, h.From) {
				add(r.rename(h.Path))
			}
		}
	}
	return paths
}

// wrongPart is the beginning of a summary, without what led to the violation.
func wrongPart(summary string) string {
	for _, led := range []string{"; the last that ", " rests on the reply at ",
		"; in that call the server refused "} {
		summary, _, _ = strings.Cut(summary, led)
	}
	return summary
}

// names reports whether a text has a path, and not only the beginning of a longer one.
func names(text, path string) bool {
	if path == "" || path == "/" {
		return false
	}
	for {
		at := strings.Index(text, path)
		if at < 0 {
			return false
		}
		text = text[at+len(path):]
		if text == "" || !strings.ContainsRune(inPath, rune(text[0])) {
			return true
		}
	}
}

// inPath are the characters that go on a path in the summaries of the judges.
const inPath = "/-_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
