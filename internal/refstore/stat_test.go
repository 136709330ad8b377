package refstore

import (
	"testing"

	"pgregory.net/rapid"
)

func TestCountersNeverGoBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStore()
		s.OpenSession(1)
		paths := rapid.SampledFrom([]string{"/a", "/a/b", "/a/c", "/e", "/e/x"})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			before := map[string]Stat{}
			for _, p := range s.Paths() {
				before[p] = s.stat(p)
			}
			randomWrite(t, s, paths.Draw(t, "path"))
			for p, old := range before {
				n, ok := s.nodes[p]
				if !ok || n.czxid != old.Czxid {
					continue
				}
				now := s.stat(p)
				if now.Version < old.Version || now.Cversion < old.Cversion ||
					now.Pzxid < old.Pzxid || now.Mzxid < old.Mzxid {
					t.Fatalf("%s went from %+v to %+v", p, old, now)
				}
			}
		}
	})
}

func randomWrite(t *rapid.T, s *Store, path string) {
	before := s.Zxid()
	version := rapid.Int32Range(-1, 2).Draw(t, "version")
	switch rapid.IntRange(0, 2).Draw(t, "op") {
	case 0:
		s.Create(1, path, nil, Mode(rapid.IntRange(0, 3).Draw(t, "mode")))
	case 1:
		s.Set(1, path, []byte("x"), version)
	case 2:
		s.Delete(1, path, version)
	}
	if s.Zxid() != before+1 {
		t.Fatalf("a write used %d zxids", s.Zxid()-before)
	}
}
