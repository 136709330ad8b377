package state

import (
	"regexp"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// CanRead says whether a connection may read a node with this ACL.
func CanRead(acl []proto.ACL, by Caller) bool {
	return allowed(acl, proto.PermRead, by)
}

// allowed says whether the caller has one of the permissions in perms. An empty
// ACL allows everything (no request can make one).
func allowed(acl []proto.ACL, perms int32, by Caller) bool {
	if len(acl) == 0 || by.isSuper() {
		return true
	}
	for _, entry := range acl {
		if entry.Perms&perms != 0 && by.matches(entry) {
			return true
		}
	}
	return false
}

func (by Caller) isSuper() bool {
	return by.Super || slices.ContainsFunc(by.IDs, func(id proto.ID) bool { return id.Scheme == "super" })
}

func (by Caller) matches(entry proto.ACL) bool {
	switch entry.Scheme {
	case "world":
		return entry.ID == "anyone"
	case "digest":
		return slices.Contains(by.IDs, proto.ID{Scheme: "digest", ID: entry.ID})
	case "ip":
		return slices.ContainsFunc(by.IDs, func(id proto.ID) bool {
			return id.Scheme == "ip" && ipMatches(entry.ID, id.ID)
		})
	}
	return false
}

// expandACL turns the list of a request into the list that is stored: exact
// duplicates dropped, "auth" replaced by the caller's own identities. The error is
// InvalidACL for an empty list and for one with an entry that means nothing, and
// MarshallingError if the server stumbles over an id that is null.
//
// Source: PrepRequestProcessor.fixupACL; ZOOKEEPER-1877 for the duplicates.
func expandACL(list []proto.ACL, by Caller) ([]proto.ACL, proto.ErrCode) {
	if len(list) == 1 && list[0].Scheme != "auth" {
		return list, meaning(list[0]) // as nearly all are: no copy
	}
	if len(list) == 0 {
		return nil, proto.InvalidACL
	}
	if comparesNull(list) {
		return nil, proto.MarshallingError
	}
	expanded := make([]proto.ACL, 0, len(list))
	for i, entry := range list {
		if slices.Contains(list[:i], entry) {
			continue
		}
		if entry.Scheme == "auth" {
			own := by.proved(entry.Perms)
			if len(own) == 0 {
				return nil, proto.InvalidACL
			}
			expanded = append(expanded, own...)
			continue
		}
		if err := meaning(entry); err != proto.OK {
			return nil, err
		}
		expanded = append(expanded, entry)
	}
	return expanded, proto.OK
}

// comparesNull says whether the search for duplicates, before anything else, has
// to compare a null id with that of an entry before it.
func comparesNull(list []proto.ACL) bool {
	for i, entry := range list {
		like := func(other proto.ACL) bool { return other.Perms == entry.Perms && other.Scheme == entry.Scheme }
		if entry.ID == proto.Null && slices.ContainsFunc(list[:i], like) {
			return true
		}
	}
	return false
}

// proved lists the identities that took a secret, which an address does not.
func (by Caller) proved(perms int32) []proto.ACL {
	var own []proto.ACL
	for _, id := range by.IDs {
		if id.Scheme == "digest" {
			own = append(own, proto.ACL{Perms: perms, Scheme: id.Scheme, ID: id.ID})
		}
	}
	return own
}

// meaning says what is wrong with an entry that stays as it is. A null id is for the
// providers of the known schemes to stumble over.
func meaning(entry proto.ACL) proto.ErrCode {
	ok := false
	switch entry.Scheme {
	case "world":
		ok = entry.ID == "anyone"
	case "digest":
		// Java's split(":") forgets empty parts at the end.
		ok = strings.Count(strings.TrimRight(entry.ID, ":"), ":") == 1
	case "ip":
		_, _, ok = parseIPRange(entry.ID)
	default:
		return proto.InvalidACL
	}
	switch {
	case entry.ID == proto.Null:
		return proto.MarshallingError
	case !ok:
		return proto.InvalidACL
	}
	return proto.OK
}

// masked hides the secrets of digest entries, as getACL does from those who may
// not set the ACL: "user:hash" becomes "user:x".
func masked(acl []proto.ACL) []proto.ACL {
	list := slices.Clone(acl)
	for i, entry := range list {
		if entry.Scheme == "digest" {
			list[i].ID = secret.ReplaceAllString(entry.ID, ":x")
		}
	}
	return list
}

// secret is Java's pattern ":.*", whose dot is no line terminator.
var secret = regexp.MustCompile("(?s):[^\n\r\u0085\u2028\u2029]*")
