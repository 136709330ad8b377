package museum

import "slices"

func placeBeforeNone() Exhibit {
	return Exhibit{
		ID: "S4-25", Title: "the place before one that is not there",
		Report: turnTutorial,
		Bug: "A member looks up its own node in the list, and the one before it. When its session has ended meanwhile the own " +
			"one is not there: its place is -1, and the one before that is -2.",
		Property: "panic",
		Wrong: turnOf(func(l *naked) {
			l.ahead = func(queue []string) (string, error) {
				if i := slices.Index(queue, l.own); i != 0 {
					return queue[i-1], nil // wrong: -1
				}
				return "", l.confirm()
			}
		}),
		Right: turnOf(nil),
	}
}
