package hunt

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// Alike reports whether two violations look like the same bug: the same property is violated, the
// summaries differ only in names, numbers, times and details in parentheses, and if they blame a
// znode, both znodes were made by one place in the code. To find the place, it runs each scenario
// once more.
func Alike(a, b *scenario.Outcome) bool { return shape(a) == shape(b) && sameMaker(a, b) }

// sameMaker reports whether the znodes that two violations blame were made at the same place in the
// code. Two unknown places count as the same; an unknown and a known one differ.
func sameMaker(a, b *scenario.Outcome) bool { return a.Maker() == b.Maker() }

// bugOf is equal for violations that are [Alike].
func bugOf(o *scenario.Outcome) string { return shape(o) + "\n" + o.Maker() }

// bugs are the violations that a hunt has met, by shape.
type bugs map[string]*sameShape

// sameShape are violations of one shape, one for each place that has made a znode to blame.
type sameShape struct {
	places  []*scenario.Outcome
	repeats int // violations since then that are alike
}

// enoughAlike bounds the violations in a row that are alike. After that many, others of their shape
// are taken for alike unseen: each look costs a run.
const enoughAlike = 50

// knows reports whether a violation is like one of the bugs.
func (b bugs) knows(o *scenario.Outcome) bool {
	l := b[shape(o)]
	if l == nil {
		return false
	}
	same := l.repeats >= enoughAlike ||
		slices.ContainsFunc(l.places, func(p *scenario.Outcome) bool { return sameMaker(p, o) })
	if l.repeats++; !same {
		l.repeats = 0
	}
	return same
}

func (b bugs) add(o *scenario.Outcome) {
	found := shape(o)
	if b[found] == nil {
		b[found] = &sameShape{}
	}
	b[found].places = append(b[found].places, o)
}

// Minor reports whether violations of a property do less harm than others: something is left over,
// or too many clients wake up. Such a violation does not end a hunt, and others are shown before
// it.
func Minor(property string) bool {
	return property == linearizability.Orphans || property == linearizability.Herd
}

// shape is the property and the summary of a violation without all that differs between two
// scenarios of the same bug.
func shape(o *scenario.Outcome) string {
	text := o.Summary()
	for was := ""; was != text; {
		was, text = text, inParentheses.ReplaceAllString(text, "")
	}
	text = evidence.ReplaceAllString(text, "")
	text = apostrophes.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "own ", "") // a's own session, or that of another client
	text = strings.ReplaceAll(text, "takes it for another,", "does not know of it,")
	text = particulars.ReplaceAllString(text, "#")
	text = words.ReplaceAllStringFunc(text, func(word string) string {
		if strings.Trim(word, word[:1]) == "" { // as aaa, a name that begins with another
			return "#"
		}
		return word
	})
	text = lists.ReplaceAllString(text, "#")
	return o.Property() + ": " + plurals.ReplaceAllString(text, "# $1")
}

var (
	inParentheses = regexp.MustCompile(` ?\([^()]*\)`)
	// evidence is one of several proofs of the same violation.
	evidence = regexp.MustCompile(`: (?:it goes wrong with|these exclude each other).*|` +
		`(?:: )?\S+'s .*, but the .* was .*|` +
		`; the last that \S+ did or learned(?: before that| of it| in that call)?(?: before its context was done)?: .*|` +
		`; (?:the last time that \S+ (?:read|listed)|no read of|\S+ (?:has )?(?:read|listed)|\S+'s \w+ succeeded),? .*|` +
		`; (?:\S+'s \w+ (?:rests on|sent no) |the last write of ).*|` +
		`^\S+'s \w+ removed .*, and can return only one: |` +
		`, (?:in|during) \S+'s \w+,|` +
		`, and the last session of \S+ ended at step \S+|` +
		`; after step \S+ \S+ neither did .*|: its add wrote over .*|; it removed .*|; \S+ removed element .*|; \S+ sent no request during .*|` +
		`: \S+ created it at step .*| since \S+.* deleted \S+ at step .*|` +
		`; \S+ was granted it although .*|` +
		`, for \S+ lived on after \S+'s \w+|` +
		`, (?:after|when its) [^;]*(?:;|$)`)
	// apostrophes are those of genitives, and of the names of new processes, as a''s.
	apostrophes = regexp.MustCompile(`'+(?:s\b)?`)
	// particulars are quoted texts, and words with a number, a path or a pair.
	particulars = regexp.MustCompile(`"[^"]*"|[^\s,;:]*[/=@0-9][^\s,;:]*`)
	words       = regexp.MustCompile(`\b[a-z]+\b`)
	// lists are particulars with commas in between.
	lists = regexp.MustCompile(`#(?:, ?#)+`)
	// plurals are words behind a number, such as 1 member and 2 members.
	plurals = regexp.MustCompile(`# (\w+?)s\b`)
)

// sortBySeverity sorts findings: minor violations come last.
func sortBySeverity[V any](list []V, outcome func(V) *scenario.Outcome) {
	rank := func(v V) int {
		if Minor(outcome(v).Property()) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b V) int { return cmp.Compare(rank(a), rank(b)) })
}
