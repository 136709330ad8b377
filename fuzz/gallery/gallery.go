package gallery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/spelling"
	"github.com/zksim/zksim/linearizability"
)

// Exhibit is a wrong recipe beside a right one.
type Exhibit struct {
	// Slug names the exhibit. An exhibit that has none is named after its kind and title.
	Slug string
	// Alias is the id that the bug had before it had a slug, "" if it had none.
	Alias string
	// Kind is the kind of object that the recipe is.
	Kind string
	// Title is the bug in a few words.
	Title string
	// Source tells where the bug is from, and Link is the URL of that, "" if there is none.
	Source Source
	Link   string
	// Remark says why an exhibit with a story is Ours.
	Remark string
	// See names other bugs of the same cause that have no exhibit.
	See []string
	// Bug is the cause and its effect, in two or three sentences. Planted exhibits have none: the
	// title says it.
	Bug string
	// Property is the one that is violated: a constant of package linearizability,
	// scenario.InvariantProperty or "panic".
	Property string
	// Says is a part of the verdict that tells the bug from others of the recipe; "" if there are
	// none, or if it does not matter.
	Says string
	// Wrong is the recipe with the bug, Right the one without; the right base of the
	// kind where an exhibit gives none. Both are called by the exhibit's slug.
	Wrong, Right scenario.Workload
	// Script is the script of the clients; the zero value means scenario.DefaultScript.
	Script scenario.Script
}

// The properties that exhibits violate, by short names.
const (
	safety       = linearizability.Safety
	liveness     = linearizability.Liveness
	delivery     = linearizability.Delivery
	linearizable = linearizability.Linearizability
	order        = linearizability.Order
	belief       = linearizability.Belief
	herd         = linearizability.Herd
	orphans      = linearizability.Orphans
	answers      = linearizability.Answers
	presence     = linearizability.Presence
	view         = linearizability.View
	invariant    = scenario.InvariantProperty
)

// Source is where a bug is from.
type Source string

// The sources. A bug is published if a bug report, published code or a tutorial has it.
const (
	Report  Source = "report"  // an issue, a pull request or a commit
	Code    Source = "code"    // published code
	Text    Source = "text"    // documentation, an article
	Ours    Source = "ours"    // nothing that can be read today
	Planted Source = "planted" // made to test the harness
)

// planted is an exhibit that was made to test the harness.
func planted(title, property string, wrong scenario.Workload) Exhibit {
	return Exhibit{Title: title, Property: property, Wrong: wrong}
}

// Published reports whether the bug was published outside of this project.
func (e Exhibit) Published() bool {
	return e.Source == Report || e.Source == Code || e.Source == Text
}

// HasStory reports whether testdata has the exhibit's smallest scenario and its story.
func (e Exhibit) HasStory() bool { return e.Source != Planted }

// kind is the exhibits of one kind of object.
type kind struct {
	name    string
	base    scenario.Workload // right
	stories []Exhibit
	planted []Exhibit
}

// Exhibits lists all exhibits, kind by kind.
func Exhibits() []Exhibit {
	var list []Exhibit
	for _, k := range kinds {
		for _, e := range k.stories {
			list = append(list, complete(e, k))
		}
		for _, e := range k.planted {
			e.Source = Planted
			list = append(list, complete(e, k))
		}
	}
	return list
}

// complete fills in the fields that follow from the kind and from other fields.
func complete(e Exhibit, k kind) Exhibit {
	e.Kind = k.name
	if e.Slug == "" {
		e.Slug = slugOf(k.name + " " + e.Title)
	}
	if e.Right.Play == nil {
		e.Right = k.base
	}
	e.Right.About = "the same, mended"
	if other := e.Right.Impl; other != "" {
		e.Right.About = other + ", which is right"
	}
	e.Wrong.Impl, e.Right.Impl = e.Slug, e.Slug+"-mended"
	e.Wrong.About = strings.TrimSpace(e.Title + ". " + e.Bug)
	e.Wrong.Flawed = e.Property
	if e.Script == (scenario.Script{}) {
		e.Script = scenario.DefaultScript
	}
	return e
}

// slugOf is a text in lower case letters and digits, with hyphens between the words.
func slugOf(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "-")
}

// Named returns the exhibits with the given slugs or aliases, in that order; without any,
// those that have a story.
func Named(names ...string) ([]Exhibit, error) {
	exhibits := Exhibits()
	if len(names) == 0 {
		return slices.DeleteFunc(exhibits, func(e Exhibit) bool { return !e.HasStory() }), nil
	}
	var named []Exhibit
	for _, name := range names {
		i := slices.IndexFunc(exhibits, func(e Exhibit) bool { return e.IsCalled(name) })
		if i < 0 {
			var slugs []string
			for _, e := range exhibits {
				slugs = append(slugs, e.Slug)
			}
			return nil, fmt.Errorf("no exhibit is called %q%s; zksim gallery --list lists them", name,
				spelling.Meant(name, slugs))
		}
		named = append(named, exhibits[i])
	}
	return named, nil
}

// IsCalled reports whether a name is the exhibit's slug or alias, in any case.
func (e Exhibit) IsCalled(name string) bool {
	return strings.EqualFold(e.Slug, name) || e.Alias != "" && strings.EqualFold(e.Alias, name)
}

// Catalogue is all that scenario files may name: the built-in workloads and those of the
// exhibits, wrong and right.
func Catalogue() scenario.Catalogue {
	var shown []scenario.Workload
	for _, e := range Exhibits() {
		shown = append(shown, e.Wrong, e.Right)
	}
	c, err := builtin.Workloads().With(shown...)
	if err != nil {
		panic(err) // an exhibit without a name, or two of one
	}
	return c
}
