package state

import "strings"

// validPath says whether a client may name a node so. It is what setData, setACL,
// check and the last step of create demand; delete demands less and reads
// nothing at all.
//
// The refused ranges of characters are those of PathUtils.validatePath, which
// looks at UTF-16 units: everything beyond U+FFFF is written with surrogates and
// refused, and so is U+FFFD, hence any string that is not UTF-8.
func validPath(path string) bool {
	if path == "/" {
		return true
	}
	if !strings.HasPrefix(path, "/") {
		return false
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	for _, c := range path {
		if refusedRune(c) {
			return false
		}
	}
	return true
}

func refusedRune(c rune) bool {
	return c <= 0x1f || c >= 0x7f && c <= 0x9f || c >= 0xd800 && c <= 0xf8ff || c >= 0xfff0
}

// splittable is the little that create and delete ask of a path before they look
// for its parent.
func splittable(path string) bool {
	return strings.Contains(path, "/") && !strings.Contains(path, "\x00")
}

// special says whether a node cannot be deleted, not even by the super user.
func special(path string) bool {
	switch path {
	case "/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config":
		return true
	}
	return false
}
