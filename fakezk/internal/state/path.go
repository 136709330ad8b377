package state

import "strings"

// validPath reports whether a node may have this path. setData, setACL, check and the
// last step of create require it. delete requires only [splittable], reads nothing.
//
// The refused ranges of characters are those of PathUtils.validatePath, which looks at
// UTF-16 units. It refuses surrogates, and so every character beyond U+FFFF, and
// U+FFFD, and so every string that is not UTF-8.
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

// splittable reports whether a path has a parent. create and delete check only that
// before they look for it.
func splittable(path string) bool {
	return strings.Contains(path, "/") && !strings.Contains(path, "\x00")
}

// special reports whether a node cannot be deleted, not even by the super user.
func special(path string) bool {
	switch path {
	case "/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config":
		return true
	}
	return false
}
