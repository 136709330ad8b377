package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Owners is a set in which an owner may be several times: a comparable value, so that states can be
// compared by ==. The zero value is empty.
type Owners struct {
	list string // one line for each, sorted: the session, and the client quoted
}

func (o Owners) lines() []string {
	if o.list == "" {
		return nil
	}
	return strings.Split(o.list, "\n")
}

func (o Owner) line() string {
	return strconv.FormatInt(o.Session, 10) + " " + strconv.Quote(o.Client)
}

// Len is the number of owners.
func (o Owners) Len() int { return len(o.lines()) }

// has reports whether the owner is in the set.
func (o Owners) has(owner Owner) bool { return slices.Contains(o.lines(), owner.line()) }

// with returns the set with the owner once more.
func (o Owners) with(owner Owner) Owners {
	lines := append(o.lines(), owner.line())
	slices.Sort(lines)
	return Owners{list: strings.Join(lines, "\n")}
}

// without returns the set with the owner once less.
func (o Owners) without(owner Owner) Owners {
	lines := o.lines()
	if i := slices.Index(lines, owner.line()); i >= 0 {
		lines = slices.Delete(lines, i, i+1)
	}
	return Owners{list: strings.Join(lines, "\n")}
}

// String lists the clients of the owners.
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
