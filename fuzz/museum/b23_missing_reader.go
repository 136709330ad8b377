package museum

import (
	"math"
	"strings"
)

func missingReader() Exhibit {
	return Exhibit{
		ID: "B23", Title: "a reader that is not in the list",
		Report: "https://github.com/apache/curator/issues/732", See: []string{"CURATOR-307", "zk-ruby issue 55"},
		Bug: "The session ends between the reader's create and its list. Its place stays at the largest number there is, " +
			"which the check for a missing node lets pass, and so does the place of the first writer if there is none: " +
			"the reader looks up what it waits for beyond the end of the list.",
		Property: "panic",
		Wrong: readWriteOf(func(l *naked) {
			ahead := l.ahead
			l.ahead = func(queue []string) (string, error) {
				if strings.HasPrefix(l.own, "write-") {
					return ahead(queue)
				}
				own, writer := math.MaxInt, math.MaxInt
				for i, name := range queue {
					if strings.HasPrefix(name, "write-") {
						writer = min(writer, i)
					} else if name == l.own {
						own = i
						break
					}
				}
				if own < 0 { // wrong: it never is
					return "", errGone
				}
				if own < writer {
					return "", l.confirm()
				}
				return queue[writer], nil
			}
		}),
		Right: readWriteOf(nil),
	}
}
