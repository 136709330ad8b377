package fourletter_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/fourletter"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
)

// TestWordsOfAnEnsemble: the servers of a real ensemble list the same keys in the same order, and
// say the same of who leads.
func TestWordsOfAnEnsemble(t *testing.T) {
	if !testrun.Full() {
		t.Skip("a real ensemble takes half a minute; -full plays it")
	}
	var ours fourletter.Server
	ours.Engine = engine.New(engine.Config{
		TickTime: time.Second, MinSessionTimeout: 2 * time.Second,
		MaxSessionTimeout: 20 * time.Second, Servers: 3,
	}, start)
	ours.Started, ours.Now = start, start
	servers := realzk.StartEnsemble(t, 3, realzk.Options{})
	leaders := 0
	for number, s := range servers {
		r := real{t: t, address: s.Address()}
		srvr := r.word("srvr")
		if strings.Contains(srvr, "Mode: leader") {
			leaders++
			ours.Engine.Elect(number, start)
		}
		ours.Number = number
		if !strings.Contains(srvr, "Mode: leader") && ours.Engine.Leader() == number {
			ours.Engine.Elect((number+1)%3, start) // it says of the number that it follows
		}
		for _, word := range []string{"srvr", "mntr", "conf", "isro"} {
			check.Diff(t, keys(fourletter.Take(word, nil, &ours)()), keys(r.word(word)),
				"%s of server %d", word, number+1)
		}
	}
	check.Equal(t, leaders, 1, "leaders")
}

// lacking are metrics that ours lacks: of the leader about each follower's connection, and of a
// write of /zookeeper/config at the start.
var lacking = regexp.MustCompile(
	`(?m)^zk_\w+_(learner_handler_qp_(size|time_ms)|zookeeper_write_per_namespace)\t.*\n`)

// keys are the lines of an answer without the values that differ from server to server.
func keys(answer string) []string {
	answer = lacking.ReplaceAllString(answer, "")
	var list []string
	for line := range strings.Lines(answer) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "zk_server_state") &&
			!strings.HasPrefix(line, "zk_peer_state") &&
			!strings.HasPrefix(line, "Mode: ") {
			if i := strings.IndexAny(line, "\t=:"); i >= 0 {
				line = line[:i]
			}
		}
		list = append(list, line)
	}
	return list
}
