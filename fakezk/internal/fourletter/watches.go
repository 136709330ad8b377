package fourletter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/engine"
)

// A watcher is a connection with the paths of its data watches.
type watcher struct {
	session int64
	paths   []string
}

// watchers returns the connections that have or have had a data watch, in order of connection. No
// four-letter word shows child watches; a watch of addWatch is a data watch, too.
//
// Source: DataTree.dumpWatches, WatchManager.
func (s *Server) watchers() []watcher {
	byConn := map[engine.ConnID][]string{}
	for _, w := range s.watches() {
		if !w.Child {
			byConn[w.Conn] = append(byConn[w.Conn], w.Path)
		}
	}
	var all []watcher
	for _, c := range s.conns() {
		if c.EverWatched {
			all = append(all, watcher{session: c.Session, paths: byConn[c.ID]})
		}
	}
	return all
}

// byPath returns the watched paths in the order of their names, and the sessions that watch each.
func byPath(all []watcher) (paths []string, sessions map[string][]int64) {
	sessions = map[string][]int64{}
	for _, w := range all {
		for _, path := range w.paths {
			paths = append(paths, path)
			sessions[path] = append(sessions[path], w.session)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), sessions
}

// wchs answers the word wchs: the number of data watches.
func wchs(s Server) string {
	all := s.watchers()
	paths, _ := byPath(all)
	total := 0
	for _, w := range all {
		total += len(w.paths)
	}
	return fmt.Sprintf("%d connections watching %d paths\nTotal watches:%d\n",
		len(all), len(paths), total)
}

// wchc answers the word wchc: the watched paths by session.
func wchc(s Server) string {
	var b strings.Builder
	for _, w := range s.watchers() {
		fmt.Fprintf(&b, "0x%x\n", uint64(w.session))
		for _, path := range hashOrder(w.paths, stringHash) {
			fmt.Fprintf(&b, "\t%s\n", path)
		}
	}
	b.WriteString("\n")
	return b.String()
}

// wchp answers the word wchp: the watching sessions by path.
func wchp(s Server) string {
	var b strings.Builder
	paths, sessions := byPath(s.watchers())
	for _, path := range hashOrder(paths, stringHash) {
		b.WriteString(path + "\n")
		for _, id := range sessions[path] {
			fmt.Fprintf(&b, "\t0x%x\n", uint64(id))
		}
	}
	b.WriteString("\n")
	return b.String()
}
