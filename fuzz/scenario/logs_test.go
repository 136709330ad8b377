package scenario_test

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// TestLogsAreQuietAndInTheStory of a replay, in an order that two runs share. They change no trace,
// and lines from outside of a World go where they went.
func TestLogsAreQuietAndInTheStory(t *testing.T) {
	var outside bytes.Buffer
	before := log.Writer()
	defer log.SetOutput(before)
	log.SetOutput(&outside)
	s := scenario.Scenario{Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1,
		Workload: scenario.Workload{Name: "own", Impl: "logs", Judge: scenario.Invariants(),
			Play: func(p *scenario.Player, _ scenario.Script) {
				log.Printf("%s begins", p.Name())
				var group sync.WaitGroup
				for _, name := range []string{"x", "y", "z"} {
					group.Go(func() { slog.Info("helps", "who", p.Name()+name) })
				}
				group.Wait()
				zk.DefaultLogger.Printf("of the client")
			}}}
	quiet := outcome(t, s)
	s.Logs = true
	first, second := outcome(t, s), outcome(t, s)
	log.Print("outside")

	check.Equal(t, strings.Contains(quiet.Story(), "begins"), false)
	check.Equal(t, first.Story(), second.Story())
	check.Equal(t, first.Result.Trace.Hash(), quiet.Result.Trace.Hash())
	for _, want := range []string{"s  log      a begins\n", "s  log      INFO helps who=ax\n",
		"s  log      zk: of the client\n"} {
		check.Contains(t, first.Story(), want)
	}
	check.Equal(t, strings.Count(outside.String(), "\n"), 1)
	check.Contains(t, outside.String(), "outside\n")
}

func outcome(t *testing.T, s scenario.Scenario) *scenario.Outcome {
	t.Helper()
	o, err := s.Run()
	check.OK(t, err)
	return o
}
