package museum

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// Exhibit is a published bug in the form of a recipe that has it.
type Exhibit struct {
	// ID names the exhibit: B, S and a number for a bug of a recipe that somebody
	// ships or teaches, G and a number for one of the Go client's own.
	ID string
	// Title is the bug in a few words.
	Title string
	// Report is where it was published, a URL: a report, or the code that has it. Of
	// a bug in a text that teaches (most of those named S) it is what the text
	// teaches the use of: the recipe of the guide, or the class, done rightly.
	Report string
	// See are names of others that have the same cause, if there are any, and are
	// not exhibited for themselves.
	See []string
	// Bug is what is wrong and what comes of it, in two or three sentences.
	Bug string
	// Property is what is violated: a constant of package linearizability, or
	// "panic".
	Property string
	// Wrong is the recipe with the bug. Right is the same without it where the rest of
	// that is right in all that its kind is judged by, and otherwise a recipe of
	// package recipes, which is right in another way. Both are called by the
	// exhibit's ID.
	Wrong, Right scenario.Workload
	// Script is what the clients do; the zero value means scenario.DefaultScript.
	Script scenario.Script
}

// Exhibits lists all exhibits in the order of their ids.
func Exhibits() []Exhibit {
	list := make([]Exhibit, len(all))
	for i, describe := range all {
		e := describe()
		e.Right.About = "the same, mended"
		if other := e.Right.Impl; other != "" {
			e.Right.About = other + ", which is right"
		}
		e.Wrong.Impl, e.Right.Impl = e.ID, e.ID+rightSuffix
		e.Wrong.About = e.Title
		e.Wrong.Flawed = e.Property
		if e.Script == (scenario.Script{}) {
			e.Script = scenario.DefaultScript
		}
		list[i] = e
	}
	return list
}

// rightSuffix tells the right recipe of an exhibit from the wrong one.
const rightSuffix = "-mended"

// Named returns the exhibits with the given ids, in that order; all without any.
func Named(ids ...string) ([]Exhibit, error) {
	exhibits := Exhibits()
	if len(ids) == 0 {
		return exhibits, nil
	}
	var named []Exhibit
	for _, id := range ids {
		i := slices.IndexFunc(exhibits, func(e Exhibit) bool { return strings.EqualFold(e.ID, id) })
		if i < 0 {
			return nil, fmt.Errorf("no exhibit is called %q; expected one of %s", id, knownIDs(exhibits))
		}
		named = append(named, exhibits[i])
	}
	return named, nil
}

func knownIDs(exhibits []Exhibit) string {
	var ids []string
	for _, e := range exhibits {
		ids = append(ids, e.ID)
	}
	return strings.Join(ids, ", ")
}

// Catalogue is all that scenario files may name: the built-in workloads and those
// of the exhibits, wrong and right.
func Catalogue() scenario.Catalogue {
	var shown []scenario.Workload
	for _, e := range Exhibits() {
		shown = append(shown, e.Wrong, e.Right)
	}
	c, err := object.Workloads().With(shown...)
	if err != nil {
		panic(err) // an exhibit without a name, or two of one
	}
	return c
}
