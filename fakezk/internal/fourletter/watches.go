package fourletter

import (
	"fmt"
	"slices"
	"strings"
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
	var all []watcher
	for _, c := range s.conns() {
		if !c.EverWatched {
			continue
		}
		w := watcher{session: c.Session}
		for v := range s.Engine.WatchesOf(c.ID) {
			if !v.Child {
				w.paths = append(w.paths, v.Path)
			}
			s.step(1)
		}
		all = append(all, w)
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
func wchs(s *Server) text {
	all := s.watchers()
	return func() string {
		paths, total := map[string]bool{}, 0
		for _, w := range all {
			total += len(w.paths)
			for _, path := range w.paths {
				paths[path] = true
			}
		}
		return fmt.Sprintf("%d connections watching %d paths\nTotal watches:%d\n",
			len(all), len(paths), total)
	}
}

// wchc answers the word wchc: the watched paths by session.
func wchc(s *Server) text {
	all := s.watchers()
	return func() string {
		var b strings.Builder
		for _, w := range all {
			fmt.Fprintf(&b, "0x%x\n", uint64(w.session))
			slices.Sort(w.paths)
			for _, path := range hashOrder(w.paths, stringHash) {
				b.WriteString("\t" + path + "\n")
			}
		}
		b.WriteString("\n")
		return b.String()
	}
}

// wchp answers the word wchp: the watching sessions by path.
func wchp(s *Server) text {
	all := s.watchers()
	return func() string {
		var b strings.Builder
		paths, sessions := byPath(all)
		for _, path := range hashOrder(paths, stringHash) {
			b.WriteString(path + "\n")
			for _, id := range sessions[path] {
				fmt.Fprintf(&b, "\t0x%x\n", uint64(id))
			}
		}
		b.WriteString("\n")
		return b.String()
	}
}
