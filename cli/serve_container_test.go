package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// TestDockerfileServes: .ci/full builds the image. Here the command takes the arguments that the
// image has, it is built with the Go of go.mod, and the manual in the comments is right.
func TestDockerfileServes(t *testing.T) {
	file := testrun.ReadFile(t, "../Dockerfile")
	_, args, ok := strings.Cut(file, "\nCMD ")
	check.Equal(t, ok, true)
	var words []string
	check.OK(t, json.Unmarshal([]byte(args), &words))
	check.OK(t, parses(strings.Join(words, " ")))
	for _, port := range []string{":2181", ":8080"} {
		check.Contains(t, strings.Join(words, " "), port)
		check.Contains(t, regexp.MustCompile("(?m)^EXPOSE.*$").FindString(file), port[1:])
	}
	run := regexp.MustCompile(`(?m)^#.* zksim (serve .*)$`).FindStringSubmatch(file)
	check.OK(t, parses(run[1]))

	// the health check, here and in the compose file
	check.Contains(t, file, "/zksim dump 127.0.0.1:2181 --path /zookeeper\n")
	check.OK(t, parses("dump 127.0.0.1:2181 --path /zookeeper"))
	check.Contains(t, testrun.ReadFile(t, "../examples/compose/compose.yaml"),
		`test: [CMD, /zksim, dump, "127.0.0.1:2181", --path, /zookeeper]`)

	version := regexp.MustCompile(`(?m)^go (1\.\d+)`).FindStringSubmatch(testrun.ReadFile(t, "../go.mod"))
	check.Contains(t, file, "/golang:"+version[1]+" AS build\n")
}
