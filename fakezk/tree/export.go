package tree

import (
	"math"
	"slices"
	"strconv"

	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/yamldoc"
)

// zk-shell writes a tree as JSON, by cp or mirror to json://FILE: a mapping from paths to nodes, as
// here. But a node has its data as base64 in content, and its list of permissions in acls:
//
//	"/app": {"content": "aGVsbG8=", "acls": [{"perms": 31, "id": {"scheme": "world", "id": "anyone"}}]}
//
// Source: github.com/rgs1/zk_shell, JSONProxy and ACLReader.

// isExport reports whether zk-shell has written a node.
func isExport(v yamldoc.Value) bool {
	return v.Kind == yamldoc.Mapping && slices.ContainsFunc(v.Pairs, func(p yamldoc.Pair) bool {
		return p.Key == "content"
	})
}

func dataOfExport(v yamldoc.Value) ([]byte, error) {
	if v.Kind == yamldoc.Nothing {
		return nil, nil
	}
	return dataOfBase64(v)
}

// aclOfExport reads a list of permissions. An empty one permits all, as zk-shell takes it.
func aclOfExport(v yamldoc.Value) ([]view.ACL, error) {
	if err := v.Is(yamldoc.List, "acls"); err != nil {
		return nil, err
	}
	acl := []view.ACL{}
	for _, element := range v.List {
		a := view.ACL{Perms: 31, Scheme: "world", ID: "anyone"}
		if err := setExported(&a, element); err != nil {
			return nil, err
		}
		acl = append(acl, a)
	}
	if len(acl) == 0 {
		return openACL(), nil
	}
	return acl, nil
}

// setExported reads an entry of such a list, or the id of an entry.
func setExported(a *view.ACL, v yamldoc.Value) error {
	if err := v.Is(yamldoc.Mapping, "acls"); err != nil {
		return err
	}
	for _, p := range v.Pairs {
		switch {
		case p.Key == "perms":
			n, err := strconv.ParseInt(p.Value.Text, 10, 32)
			if p.Value.Kind != yamldoc.Number || err != nil {
				return p.Value.At.Wrong("perms: found %s %s; expected a whole number up to %d",
					p.Value.Kind, p.Value.Text, math.MaxInt32)
			}
			a.Perms = int32(n)
		case p.Key == "id" && p.Value.Kind == yamldoc.Mapping:
			if err := setExported(a, p.Value); err != nil {
				return err
			}
		case p.Key == "scheme" || p.Key == "id":
			if err := p.Value.Is(yamldoc.Text, p.Key); err != nil {
				return err
			}
			if p.Key == "id" {
				a.ID = p.Value.Text
			} else {
				a.Scheme = p.Value.Text
			}
		default:
			return p.At.Wrong("unknown key %q of acls; expected perms and id, with scheme and id",
				p.Key)
		}
	}
	return nil
}
