package cli

import (
	"slices"
	"strings"
)

// goArgs is a command line of go. The flags that zksim extends have fields of their own.
type goArgs struct {
	sub     string // one of goTakes
	dir     string // of the flag -C
	overlay string // of the flag -overlay
	tags    string // of the flag -tags
	rest    []string
	kinds   []string // flags that need another standard library
}

// goSwitches are the flags of go run without a value. goKinds are those that need another build of
// the standard library.
var (
	goSwitches = strings.Fields(
		"a n v work x race msan asan cover linkshared modcacherw trimpath json")
	goKinds = strings.Fields("race msan asan cover")
)

// parseGoArgs splits a command line of go. The program's own arguments come after the package for
// go run, and after -args for the other commands.
func parseGoArgs(args []string) goArgs {
	user := goArgs{sub: args[0]}
	args = args[1:]
	for len(args) > 0 {
		arg := args[0]
		name, value, hasValue := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"),
			"=")
		flag := strings.HasPrefix(arg, "-") && arg != "-" && arg != "--"
		if name == "args" && flag || arg == "--" || !flag && user.sub == "run" {
			break
		}
		taken := 1
		if flag && !hasValue && len(args) > 1 && !slices.Contains(goSwitches, name) &&
			(user.sub == "run" || user.place(name) != nil) {
			value, taken = args[1], 2
		}
		if flag && slices.Contains(goKinds, name) {
			user.kinds = append(user.kinds, name)
		}
		if place := user.place(name); flag && place != nil {
			*place = value
		} else {
			user.rest = append(user.rest, args[:taken]...)
		}
		args = args[taken:]
	}
	user.rest = append(user.rest, args...)
	return user
}

// place is the field of a flag's value, nil if the flag has no field of its own.
func (g *goArgs) place(name string) *string {
	switch name {
	case "C":
		return &g.dir
	case "overlay":
		return &g.overlay
	case "tags":
		return &g.tags
	}
	return nil
}

// addDefaults takes values from GOFLAGS, which count if the command line has none.
func (g *goArgs) addDefaults(flags []string) {
	for _, flag := range flags {
		name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if place := g.place(name); place != nil && *place == "" {
			*place = value
		}
	}
}

// with is the command line with an overlay, and a tag in addition.
func (g *goArgs) with(overlay, tag string) []string {
	args := []string{g.sub}
	if g.dir != "" {
		args = append(args, "-C", g.dir)
	}
	tags := tag
	if g.tags != "" {
		tags = strings.Join(strings.Fields(g.tags), ",") + "," + tag
	}
	return append(append(args, "-overlay="+overlay, "-tags="+tags), g.rest...)
}
