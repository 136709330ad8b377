package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Owners is a set of owners in which each may be several times: a comparable
// value, so that states can be told apart by ==. The zero value is empty.
type Owners struct {
	list string // one line for each, sorted: the session, and the client quoted
}

func (o Owners) lines() []string {
	if o.list == "" {
		return nil
	}
	return strings.Split(o.list, "\n")
}

func (o Owner) line() string { return strconv.FormatInt(o.Session, 10) + " " + strconv.Quote(o.Client) }

// Len is their number.
func (o Owners) Len() int { return len(o.lines()) }

// Has reports whether the owner is among them.
func (o Owners) Has(owner Owner) bool { return slices.Contains(o.lines(), owner.line()) }

// With returns them and one owner more.
func (o Owners) With(owner Owner) Owners {
	lines := append(o.lines(), owner.line())
	slices.Sort(lines)
	return Owners{list: strings.Join(lines, "\n")}
}

// Without returns them with the owner once less.
func (o Owners) Without(owner Owner) Owners {
	lines := o.lines()
	if i := slices.Index(lines, owner.line()); i >= 0 {
		lines = slices.Delete(lines, i, i+1)
	}
	return Owners{list: strings.Join(lines, "\n")}
}

// String lists their clients.
func (o Owners) String() string {
	var clients []string
	for _, line := range o.lines() {
		_, quoted, _ := strings.Cut(line, " ")
		client, err := strconv.Unquote(quoted)
		if err != nil {
			panic(fmt.Sprintf("model: broken owners %q", o.list))
		}
		clients = append(clients, client)
	}
	return strings.Join(clients, " ")
}
