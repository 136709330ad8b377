package refstore

import "strings"

// parentPath is the parent of a path for a server: everything before the last slash, so the root is
// called "" here and is found by that name.
func parentPath(path string) string {
	return path[:strings.LastIndexByte(path, '/')]
}

// key maps the root's second name, the empty path, to its first. Reads and parent look-ups accept
// both (DataTree's constructor puts the root in twice).
func key(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

// splittable says whether create and delete can find a parent in the path at all; it is the only
// check they make before looking the parent up.
func splittable(path string) bool {
	return strings.Contains(path, "/") && !strings.Contains(path, "\x00")
}

// valid is org.apache.zookeeper.common.PathUtils.validatePath.
func valid(path string) bool {
	if path == "/" {
		return true
	}
	if !strings.HasPrefix(path, "/") {
		return false
	}
	for _, name := range strings.Split(path[1:], "/") {
		if name == "" || name == "." || name == ".." {
			return false
		}
	}
	return strings.IndexFunc(path, refused) < 0
}

// refused names the characters no path may hold. Java looks at UTF-16 units, so everything outside
// the basic plane is refused as a surrogate; invalid UTF-8 arrives as U+FFFD and is refused with
// it.
func refused(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}

// special are the znodes that cannot be deleted.
func special(path string) bool {
	switch path {
	case "/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config":
		return true
	}
	return false
}
