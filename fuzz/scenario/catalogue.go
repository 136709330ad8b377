package scenario

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zksim/zksim/internal/spelling"
)

// Catalogue is a list of workloads that flags and scenario files can name. For each kind of object
// the recommended implementation comes first.
type Catalogue []Workload

// Kinds lists the kinds of objects of the workloads.
func (c Catalogue) Kinds() []string {
	var names []string
	for _, w := range c {
		if !slices.Contains(names, w.Name) {
			names = append(names, w.Name)
		}
	}
	return names
}

// Find returns a workload. An empty impl means the recommended one.
func (c Catalogue) Find(name, impl string) (Workload, error) {
	var known []string
	for _, w := range c {
		if w.Name != name {
			continue
		}
		if impl == "" || w.Impl == impl {
			return w, nil
		}
		known = append(known, w.Impl)
	}
	if known == nil {
		names := c.Kinds() // some commands take implementations in their place
		for _, w := range c {
			if names = append(names, w.Impl); w.Impl == name {
				return Workload{}, fmt.Errorf("unknown workload %q: it is an implementation of %s",
					name, w.Name)
			}
		}
		return Workload{}, fmt.Errorf("unknown workload %q%s; expected one of %s", name,
			spelling.Meant(name, names), strings.Join(c.Kinds(), ", "))
	}
	return Workload{}, fmt.Errorf("workload %s has no implementation %q%s; expected one of %s", name,
		impl, spelling.Meant(impl, known), fewOf(known, impl))
}

// fewNames is the greatest number of names that an error lists.
const fewNames = 8

// fewOf lists the names that an error expected in place of a wrong one. Of many, such as those of
// the gallery, it lists the nearest.
func fewOf(known []string, wrong string) string {
	if len(known) <= fewNames {
		return strings.Join(known, ", ")
	}
	return fmt.Sprintf("%d, such as %s; the commands list and gallery --list show the names",
		len(known), strings.Join(spelling.Nearest(wrong, known, 3), ", "))
}

// Sound lists the workloads without a known flaw: those whose Flawed is "".
func (c Catalogue) Sound() Catalogue {
	var sound Catalogue
	for _, w := range c {
		if w.Flawed == "" {
			sound = append(sound, w)
		}
	}
	return sound
}

// With adds workloads to a catalogue. It returns an error if one has no name, no implementation, no
// script or no judge, if it is in the catalogue already, or if one of its names has a space or a
// control character: in flags and lines of output a name is one word.
func (c Catalogue) With(more ...Workload) (Catalogue, error) {
	c = slices.Clone(c)
	for _, w := range more {
		switch {
		case w.Name == "" || w.Impl == "":
			return nil, fmt.Errorf("workload %q %q: Name and Impl must not be empty", w.Name,
				w.Impl)
		case !isWord(w.Name) || !isWord(w.Impl):
			return nil, fmt.Errorf("workload %q %q: "+
				"Name and Impl must have no spaces and no control characters", w.Name, w.Impl)
		case w.Play == nil || w.Judge == nil:
			return nil, fmt.Errorf("workload %s %s: Play or Judge is missing", w.Name, w.Impl)
		case slices.ContainsFunc(c, func(known Workload) bool {
			return known.Name == w.Name && known.Impl == w.Impl
		}):
			return nil, fmt.Errorf("workload %s %s is there already", w.Name, w.Impl)
		}
		c = append(c, w)
	}
	return c, nil
}

// isWord reports whether a name has only visible characters.
func isWord(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	})
}
