package report

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/hunt"
)

// A Shard says which part of which work a report is about. It is empty for a process that does all
// of the work.
type Shard struct {
	Shard string `json:"shard,omitempty"`
	Work  string `json:"work,omitempty"` // of all shards
	// Missing are the shards without a report, of a report that unites the others.
	Missing []string `json:"missing_shards,omitempty"`
}

// ShardOf is a part of some work, which the values of flags describe: "--runs=10; --seed=1". The
// build of the program belongs to it: another build plays other scenarios by the same flags.
func ShardOf(part hunt.Part, work string) Shard {
	if part == (hunt.Part{}) {
		return Shard{}
	}
	return Shard{Shard: part.String(), Work: WorkOf(work)}
}

// WithProgram adds a hash of the running program to a text about some work: builds of one commit
// with other changes play other scenarios.
func WithProgram(work string) (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s; program %.8x", work, sha256.Sum256(program)), nil
}

// WorkOf is a text about some work, which the values of flags describe, with the build of the
// program.
func WorkOf(work string) string { return work + "; " + build(debug.ReadBuildInfo()) }

// build names the build of a program: the version of its module, with the commit if that is known,
// the version of zksim and that of Go.
func build(info *debug.BuildInfo, known bool) string {
	if !known {
		return "an unknown build"
	}
	text := "a build of " + versionOf(&info.Main)
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			text += " at " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			text += " with changes"
		}
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/zksim/zksim" {
			text += ", " + versionOf(m)
		}
	}
	return text + ", " + info.GoVersion
}

// versionOf is a module with its version, or that of its replacement.
func versionOf(m *debug.Module) string {
	if m.Replace != nil {
		m = m.Replace
	}
	return strings.TrimSpace(m.Path + " " + m.Version)
}

func (s *Shard) shard() *Shard { return s }

// united is that of the report of all shards.
func (s *Shard) united() Shard { return Shard{Missing: s.Missing} }

// sameWork returns an error if two reports are about different work. It names the settings that
// differ.
func sameWork(of, first string) error {
	if of == first {
		return nil
	}
	its, other := strings.Split(of, "; "), strings.Split(first, "; ")
	if len(its) == len(other) {
		for i := len(its) - 1; i >= 0; i-- {
			if its[i] == other[i] {
				its, other = slices.Delete(its, i, i+1), slices.Delete(other, i, i+1)
			}
		}
	}
	return fmt.Errorf("it is about %s, and not about %s", strings.Join(its, "; "),
		strings.Join(other, "; "))
}
