package tree

import (
	"slices"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/yamldoc"
)

// permLetters are the letters of permissions, in the order of ZooKeeper's own tools.
const permLetters = "cdrwa"

// permBits are the bits of the letters.
var permBits = map[rune]int32{'c': 4, 'd': 8, 'r': 1, 'w': 2, 'a': 16}

// openACL is the default ACL of a file's node: everybody may do everything.
func openACL() []view.ACL {
	return []view.ACL{{Perms: 31, Scheme: "world", ID: "anyone"}}
}

// isOpen reports whether an ACL is empty or openACL.
func isOpen(acl []view.ACL) bool {
	return len(acl) == 0 || slices.Equal(acl, openACL())
}

// formatACL is an entry in the form of a tree file: scheme:id:perms. Permissions that have no
// letters are a number.
func formatACL(a view.ACL) string {
	var perms strings.Builder
	rest := a.Perms
	for _, letter := range permLetters {
		if a.Perms&permBits[letter] != 0 {
			perms.WriteRune(letter)
			rest &^= permBits[letter]
		}
	}
	if rest != 0 || a.Perms == 0 {
		return a.Scheme + ":" + a.ID + ":" + strconv.FormatInt(int64(a.Perms), 10)
	}
	return a.Scheme + ":" + a.ID + ":" + perms.String()
}

// ACLTexts is an ACL in the form of a tree file; an empty one becomes openACL.
func ACLTexts(acl []view.ACL) []string {
	if len(acl) == 0 {
		acl = openACL()
	}
	texts := make([]string, len(acl))
	for i, a := range acl {
		texts[i] = formatACL(a)
	}
	return texts
}

// aclOfValue reads a list of entries.
func aclOfValue(v yamldoc.Value) ([]view.ACL, error) {
	if err := v.Is(yamldoc.List, "acl"); err != nil {
		return nil, err
	}
	if len(v.List) == 0 {
		return nil, v.At.Wrong(
			"acl: is empty; expected at least one entry such as world:anyone:cdrwa",
		)
	}
	acl := make([]view.ACL, 0, len(v.List))
	for _, element := range v.List {
		if err := element.Is(yamldoc.Text, "acl"); err != nil {
			return nil, err
		}
		a, ok := parseACL(element.Text)
		if !ok {
			return nil, element.At.Wrong("acl: %q; expected scheme:id:perms with perms out of %s "+
				"or a number, such as world:anyone:cdrwa", element.Text, permLetters)
		}
		acl = append(acl, a)
	}
	return acl, nil
}

// parseACL reads scheme:id:perms; the id may hold colons.
func parseACL(text string) (view.ACL, bool) {
	scheme, rest, ok := strings.Cut(text, ":")
	last := strings.LastIndexByte(rest, ':')
	if !ok || last < 0 || scheme == "" {
		return view.ACL{}, false
	}
	perms, ok := parsePerms(rest[last+1:])
	return view.ACL{Perms: perms, Scheme: scheme, ID: rest[:last]}, ok
}

// parsePerms reads letters, each once, or a number.
func parsePerms(text string) (int32, bool) {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return int32(n), true
	}
	var perms int32
	for _, letter := range text {
		bit := permBits[letter]
		if bit == 0 || perms&bit != 0 {
			return 0, false
		}
		perms |= bit
	}
	return perms, perms != 0
}
