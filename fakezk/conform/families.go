package conform

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:embed families/*.txt
var familyFiles embed.FS

// fixedScripts returns the scripts of families/*.txt by family, the name of the file. They are read
// when they are needed first: programs that compare no servers start without them.
var fixedScripts = sync.OnceValue(mustLoadFamilies)

func mustLoadFamilies() map[string][]script {
	const folder = "families"
	entries, err := familyFiles.ReadDir(folder)
	if err != nil {
		panic(fmt.Sprintf("conform: %v", err)) // the files are part of the binary
	}
	families := map[string][]script{}
	for _, e := range entries {
		text, err := familyFiles.ReadFile(folder + "/" + e.Name())
		if err != nil {
			panic(fmt.Sprintf("conform: %v", err))
		}
		name := strings.TrimSuffix(e.Name(), ".txt")
		if families[name], err = parseFamily(name, string(text)); err != nil {
			panic(fmt.Sprintf("conform: %v", err))
		}
	}
	return families
}

// freshFamily is played first: it needs new servers.
const freshFamily = "fresh"

// Families returns the names of the families of fixed scripts, in the order in which they
// are played.
func Families() []string {
	names := slices.Sorted(maps.Keys(fixedScripts()))
	names = slices.DeleteFunc(names, func(name string) bool { return name == freshFamily })
	return append([]string{freshFamily}, names...)
}
