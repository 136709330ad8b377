package report

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

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
	return Shard{Shard: part.String(), Work: work + "; " + build(debug.ReadBuildInfo())}
}

// build names the build of a program: the version of its module, with the commit if that is known,
// the version of zksim and that of Go, and a hash of the program where these do not tell its code.
func build(info *debug.BuildInfo, known bool) string {
	if !known {
		return "an unknown build, " + program()
	}
	text := "a build of " + versionOf(&info.Main)
	commit, changed, replaced := "", strings.HasSuffix(info.Main.Version, "+dirty"), false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
			text += " at " + commit
		case "vcs.modified":
			changed = changed || s.Value == "true"
		}
	}
	if changed {
		text += " with changes"
	}
	for _, m := range info.Deps {
		replaced = replaced || m.Replace != nil && m.Replace.Version == "" || m.Version == "(devel)"
		if m.Path == "github.com/zksim/zksim" {
			text += ", " + versionOf(m)
		}
	}
	text += ", " + info.GoVersion
	released := strings.HasPrefix(info.Main.Version, "v")
	if changed || replaced || commit == "" && !released {
		text += ", " + program()
	}
	return text
}

// Program is a hash of the running program.
func Program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("program %.8x", sha256.Sum256(text)), nil
}

// program is Program, or a text that is that of no other process if the program cannot be read.
func program() string {
	text, err := Program()
	if err != nil {
		return fmt.Sprintf("process %d of %v: %v", os.Getpid(), time.Now(), err)
	}
	return text
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
