package state

import (
	"regexp"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// CanRead reports whether the caller may read a node with this ACL.
func CanRead(acl []proto.ACL, by Caller) bool {
	return allowed(acl, proto.PermRead, by)
}

// allowed reports whether the caller has one of the permissions in perms. An empty ACL
// allows everything (no request can set one).
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
	return by.Super ||
		slices.ContainsFunc(by.IDs, func(id proto.ID) bool { return id.Scheme == "super" })
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
	case "sasl": // the user super matches every entry
		return slices.ContainsFunc(by.IDs, func(id proto.ID) bool {
			return id.Scheme == "sasl" && (id.ID == entry.ID || id.ID == "super")
		})
	}
	return false
}

// mostEntries bounds the entries of an ACL in which "auth" entries are expanded: each stands for
// all identities of the caller, of which there may be thousands.
const mostEntries = 1 << 16

// expandACL returns the list to store for the list of a request: without exact duplicates, and with
// the caller's proved identities in place of "auth". The error is InvalidACL for an empty list and
// for an invalid entry, and MarshallingError if the real server throws an exception at a null id.
//
// Source: PrepRequestProcessor.fixupACL; ZOOKEEPER-1877 for the duplicates.
func (d *draft) expandACL(list []proto.ACL) ([]proto.ACL, proto.ErrCode) {
	if len(list) == 1 && list[0].Scheme != "auth" {
		return list, d.validateEntry(list[0]) // the common case needs no copy
	}
	if len(list) == 0 {
		return nil, proto.InvalidACL
	}
	if comparesNull(list) {
		return nil, proto.MarshallingError
	}
	expanded := make([]proto.ACL, 0, len(list))
	seen := make(map[proto.ACL]bool, len(list))
	for _, entry := range list {
		if seen[entry] {
			continue
		}
		seen[entry] = true
		if entry.Scheme == "auth" {
			own := d.by.proved(entry.Perms)
			if len(own) == 0 || len(expanded)+len(own) > mostEntries {
				return nil, proto.InvalidACL
			}
			expanded = append(expanded, own...)
			continue
		}
		if err := d.validateEntry(entry); err != proto.OK {
			return nil, err
		}
		expanded = append(expanded, entry)
	}
	return expanded, proto.OK
}

// comparesNull reports whether the search for duplicates, the first step, compares a
// null id with the id of an earlier entry.
func comparesNull(list []proto.ACL) bool {
	type kind struct {
		perms  int32
		scheme string
	}
	seen := make(map[kind]bool, len(list))
	for _, entry := range list {
		k := kind{entry.Perms, entry.Scheme}
		if entry.ID == proto.Null && seen[k] {
			return true
		}
		seen[k] = true
	}
	return false
}

// proved lists the identities proved with a secret. An address is not one.
func (by Caller) proved(perms int32) []proto.ACL {
	var own []proto.ACL
	for _, id := range by.IDs {
		if id.Scheme == "digest" || id.Scheme == "sasl" {
			own = append(own, proto.ACL{Perms: perms, Scheme: id.Scheme, ID: id.ID})
		}
	}
	return own
}

// validateEntry returns the error of an entry other than "auth". With a null id the
// real server throws an exception, once it knows the scheme.
func (d *draft) validateEntry(entry proto.ACL) proto.ErrCode {
	ok := false
	switch entry.Scheme {
	case "world":
		ok = entry.ID == "anyone"
	case "digest":
		// Java's split(":") drops empty parts at the end.
		ok = strings.Count(strings.TrimRight(entry.ID, ":"), ":") == 1
	case "ip":
		_, _, ok = parseIPRange(entry.ID)
	case "sasl":
		if !d.store.cfg.SASL {
			return proto.InvalidACL
		}
		ok = isPrincipal(entry.ID)
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

// isPrincipal reports whether an id is one of Kerberos, such as a/host@REALM, or has no "@".
//
// Source: KerberosName.nameParser.
func isPrincipal(id string) bool {
	name, realm, ok := strings.Cut(id, "@")
	return !ok || strings.Count(name, "/") <= 1 && !strings.ContainsAny(realm, "/@")
}

// masked hides the hashes of digest entries, as getACL does from callers without
// ADMIN: "user:hash" becomes "user:x".
func masked(acl []proto.ACL) []proto.ACL {
	list := slices.Clone(acl)
	for i, entry := range list {
		if entry.Scheme == "digest" {
			list[i].ID = secret.ReplaceAllString(entry.ID, ":x")
		}
	}
	return list
}

// secret is Java's pattern ":.*". In Java the dot matches no line terminator.
var secret = regexp.MustCompile("(?s):[^\n\r\u0085\u2028\u2029]*")
