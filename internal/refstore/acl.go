package refstore

import (
	"slices"
	"strings"
)

// Permission bits of an [ACL] (ZooDefs.Perms).
const (
	PermRead   int32 = 1
	PermWrite  int32 = 2
	PermCreate int32 = 4
	PermDelete int32 = 8
	PermAdmin  int32 = 16
	PermAll    int32 = 31
)

// ACL is one entry of an access control list.
type ACL struct {
	Perms  int32
	Scheme string
	ID     string
}

// World returns the list that gives the permissions to all clients.
func World(perms int32) []ACL { return []ACL{{Perms: perms, Scheme: "world", ID: "anyone"}} }

// allows reports whether a session without authentication has one of the permissions.
func allows(list []ACL, perms int32) bool {
	for _, a := range list {
		if a.Scheme == "world" && a.ID == "anyone" && a.Perms&perms != 0 {
			return true
		}
	}
	return false
}

// fixACL drops repeated entries and refuses the lists that a server refuses; only the schemes world
// and digest are known here.
func fixACL(list []ACL) ([]ACL, Code) {
	var out []ACL
	for _, a := range list {
		if slices.Contains(out, a) {
			continue
		}
		known := a.Scheme == "world" && a.ID == "anyone" ||
			a.Scheme == "digest" && digestParts(a.ID) == 2
		if !known {
			return nil, InvalidACL
		}
		out = append(out, a)
	}
	if len(out) == 0 {
		return nil, InvalidACL
	}
	return out, OK
}

// digestParts counts as Java's String.split does: empty parts at the end do not exist.
func digestParts(id string) int {
	return len(strings.Split(strings.TrimRight(id, ":"), ":"))
}

// GetACL returns the list of the znode. It needs READ or ADMIN; without ADMIN the digests are
// hidden.
func (s *Store) GetACL(session int64, path string) ([]ACL, Stat, Code) {
	n, code := s.read(session, path, PermRead|PermAdmin)
	if code != OK {
		return nil, Stat{}, code
	}
	list := slices.Clone(n.acl)
	if !allows(n.acl, PermAdmin) {
		for i, a := range list {
			if user, _, found := strings.Cut(a.ID, ":"); found && a.Scheme == "digest" {
				list[i].ID = user + ":x"
			}
		}
	}
	return list, s.stat(key(path)), OK
}

// SetACL replaces the list of the znode if aversion is the version of its ACL or -1. It fires no
// watch and leaves the data's version alone.
func (s *Store) SetACL(session int64, path string, list []ACL, aversion int32) (Stat, Code) {
	if !s.open[session] {
		return Stat{}, SessionExpired
	}
	s.zxid++
	if !valid(path) {
		return Stat{}, BadArguments
	}
	list, code := fixACL(list)
	if code != OK {
		return Stat{}, code
	}
	n, ok := s.nodes[path]
	switch {
	case !ok:
		return Stat{}, NoNode
	case !allows(n.acl, PermAdmin):
		return Stat{}, NoAuth
	case aversion != -1 && aversion != n.aversion:
		return Stat{}, BadVersion
	}
	n.acl = list
	n.aversion++
	s.nodes[path] = n
	return s.stat(path), OK
}
