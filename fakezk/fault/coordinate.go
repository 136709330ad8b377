package fault

import (
	"path"
	"strings"
)

// A Coordinate is one request, or one watch notification, that faults may select.
type Coordinate struct {
	Event    bool // a notification
	Client   string
	Conn     int    // of the client's connections, from 1
	Server   int    // of the connection, from 1
	Op, Path string // see Fault; a notification has no Op
}

// Selects reports whether a coordinate counts for the fault.
func (f Fault) Selects(c Coordinate) bool {
	return (f.Event != 0) == c.Event && (f.Client == "" || f.Client == c.Client) &&
		(f.Conn == 0 || f.Conn == c.Conn) && (f.Server == 0 || f.Server == c.Server) &&
		(f.Op == "" || f.Op == c.Op) &&
		matchPath(f.Path, c.Path)
}

// matchPath reports whether a znode path matches a Fault's glob.
func matchPath(glob, p string) bool {
	if glob == "" {
		return true
	}
	if prefix, ok := strings.CutSuffix(glob, "/**"); ok {
		elements := strings.Count(prefix, "/")
		parts := strings.Split(p, "/")
		if len(parts) <= elements+1 {
			return false
		}
		return matchPath(prefix, strings.Join(parts[:elements+1], "/"))
	}
	ok, err := path.Match(glob, p)
	return err == nil && ok
}
