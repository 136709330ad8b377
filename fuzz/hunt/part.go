package hunt

import (
	"fmt"
	"strconv"
	"strings"
)

// A Part is the share of one process in work that several processes do. Its text is 2/3 for the
// second of three; the zero Part has all of the work. Each unit of work belongs to exactly one
// part.
type Part struct{ number, of int }

// mostParts bounds the number of parts.
const mostParts = 10_000

// UnmarshalText reads a text such as 2/3. An empty one is all of the work.
func (p *Part) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*p = Part{}
		return nil
	}
	first, second, _ := strings.Cut(string(text), "/")
	number, err1 := strconv.Atoi(first)
	of, err2 := strconv.Atoi(second)
	if err1 != nil || err2 != nil || number < 1 || number > of || of > mostParts {
		return fmt.Errorf("part %q; expected one such as 2/3, the second of three", text)
	}
	*p = Part{number, of}
	return nil
}

// MarshalText is the opposite of UnmarshalText.
func (p Part) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// String is the text of the part, empty for all of the work.
func (p Part) String() string {
	if p.of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.number, p.of)
}

// Has reports whether a unit of the work, by its number from 0, belongs to the part.
func (p Part) Has(unit int) bool { return p.of == 0 || unit%p.of == p.number-1 }

// All lists the parts of the work of p. The zero Part is the only one of its work.
func (p Part) All() []Part {
	if p.of == 0 {
		return []Part{p}
	}
	var all []Part
	for number := range p.of {
		all = append(all, Part{number + 1, p.of})
	}
	return all
}
