package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/gallery"
)

type absentJSON struct {
	ID     string `json:"id"`
	Report string `json:"report"`
	Why    string `json:"why"`
}

// withoutHunts refuses the flags of hunts, even with their default values.
func withoutHunts(line *kong.Context) error {
	hunts := []string{"seeds", "seed", "runs", "strategy", "html", "story", "list"}
	for _, given := range line.Path {
		if f := given.Flag; f != nil && slices.Contains(hunts, f.Name) {
			return fmt.Errorf("--absent goes without --%s", f.Name)
		}
	}
	return nil
}

// listAbsent lists the bugs without an exhibit; with names it lists only those.
func (c *galleryCommand) listAbsent(env *command.Env) error {
	list, err := absent(c.Names)
	if err != nil {
		return err
	}
	if c.JSON {
		return env.JSON(list)
	}
	for _, m := range list {
		env.Printf("%-6s %s\n%6s %s\n", m.ID, m.Why, "", m.Report)
	}
	return nil
}

// absent returns the bugs of the given ids, or all bugs without an exhibit if there are no ids. An
// id of any other bug is an error.
func absent(ids []string) ([]absentJSON, error) {
	list := []absentJSON{}
	for _, m := range gallery.Absent() {
		list = append(list, absentJSON(m))
	}
	if len(ids) == 0 {
		return list, nil
	}
	named := []absentJSON{}
	for _, id := range ids {
		i := slices.IndexFunc(list, func(m absentJSON) bool { return strings.EqualFold(m.ID, id) })
		if i >= 0 {
			named = append(named, list[i])
			continue
		}
		if by := shownBy(id); by != nil {
			return nil, fmt.Errorf("%s is not absent: it is shown by %s", id,
				strings.Join(by, ", "))
		}
		_, err := gallery.Named(id)
		if err == nil {
			err = fmt.Errorf("%s is not absent: it is an exhibit", id)
		}
		return nil, err
	}
	return named, nil
}

// notShown finds the first id of a known bug without an exhibit. The error gives the reason, or the
// exhibit of the same cause.
func notShown(ids []string) error {
	for _, id := range ids {
		if _, err := gallery.Named(id); err == nil {
			continue
		}
		if missing, err := absent([]string{id}); err == nil {
			return fmt.Errorf("%s is absent: %s", missing[0].ID, missing[0].Why)
		}
		if by := shownBy(id); by != nil {
			return fmt.Errorf("%s is shown by %s", id, strings.Join(by, ", "))
		}
	}
	return nil
}

// shownBy returns the ids of the exhibits that list a bug as one with the same cause.
func shownBy(id string) []string {
	var by []string
	for _, e := range gallery.Exhibits() {
		if slices.ContainsFunc(e.See, func(see string) bool { return names(see, id) }) {
			by = append(by, e.Slug)
		}
	}
	return by
}

// bugName is an id or the key of an issue: S0-2, B15, CURATOR-62.
var bugName = regexp.MustCompile(`(?i)\b[a-z]+[0-9]*-?[0-9]+\b`)

// names reports whether a text such as "B15 (CURATOR-62)" contains the name of a bug.
func names(text, id string) bool {
	return strings.EqualFold(text, id) ||
		slices.ContainsFunc(bugName.FindAllString(text, -1), func(name string) bool {
			return strings.EqualFold(name, id)
		})
}
