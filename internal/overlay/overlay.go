package overlay

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

//go:embed std/*.txt
var std embed.FS

// Tag is the build tag of our side of the overlay.
const Tag = "zksim_overlay"

// Make writes the files for the Go of a GOROOT and a version, such as go1.26.8, below a cache
// directory. It returns the files that replace others, by the name of the file that is replaced,
// as in an overlay of the go command. The contents decide the directory, so a second call finds
// what the first one has made.
func Make(goroot, version, cache string) (map[string]string, error) {
	release, err := releaseOf(version)
	if err != nil {
		return nil, err
	}
	texts, err := edited(goroot, release)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", version, err)
	}
	dir := filepath.Join(cache, fmt.Sprintf("go1.%d-%s", release, hashOf(texts)))
	replace := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := writeOnce(to, texts[name]); err != nil {
			return nil, err
		}
		replace[filepath.Join(goroot, "src", filepath.FromSlash(name))] = to
	}
	return replace, nil
}

var versionNumber = regexp.MustCompile(`^go1\.(\d+)(\D|$)`)

// releaseOf returns the N of a version go1.N.
func releaseOf(version string) (int, error) {
	if m := versionNumber.FindStringSubmatch(version); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && slices.Contains(releases, n) {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s is not a Go release that zksim can edit: those are 1.%d to 1.%d",
		version, releases[0], releases[len(releases)-1])
}

// edited returns every file of the overlay, by its name below GOROOT/src.
func edited(goroot string, release int) (map[string][]byte, error) {
	texts := map[string][]byte{}
	for _, e := range edits {
		if e.only != 0 && e.only != release {
			continue
		}
		text, ok := texts[e.file]
		if !ok {
			var err error
			if text, err = os.ReadFile(
				filepath.Join(goroot, "src", filepath.FromSlash(e.file)),
			); err != nil {
				return nil, err
			}
		}
		text, err := e.apply(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.file, err)
		}
		texts[e.file] = text
	}
	for name, place := range added {
		text, err := std.ReadFile("std/" + name)
		if err != nil {
			return nil, err
		}
		texts[place] = text
	}
	return texts, nil
}

func hashOf(texts map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(sum, "%s %d\n", name, len(texts[name]))
		sum.Write(texts[name])
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}

// writeOnce writes a file if it is not there with this text. Another process may do the same at
// the same time.
func writeOnce(name string, text []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// file is an overlay of the go command.
type file struct{ Replace map[string]string }

// Write writes an overlay with the given files, and those of another overlay if that is not "", as
// a file below a cache directory. It returns the name of the file.
func Write(replace map[string]string, other, cache string) (string, error) {
	merged := file{maps.Clone(replace)}
	if other != "" {
		text, err := os.ReadFile(other)
		if err != nil {
			return "", err
		}
		var theirs file
		if err := json.Unmarshal(text, &theirs); err != nil {
			return "", fmt.Errorf("%s: %w", other, err)
		}
		for _, name := range slices.Sorted(maps.Keys(theirs.Replace)) {
			full, err := filepath.Abs(name)
			if err != nil {
				return "", err
			}
			if _, ours := replace[full]; ours {
				return "", fmt.Errorf("%s: %s is replaced by zksim, too", other, name)
			}
			merged.Replace[name] = theirs.Replace[name]
		}
	}
	text, err := json.MarshalIndent(merged, "", "\t")
	if err != nil {
		return "", err
	}
	name := filepath.Join(cache, "overlay-"+hashOf(map[string][]byte{"": text})+".json")
	return name, writeOnce(name, text)
}
