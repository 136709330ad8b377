package builtin_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// corpus are the scenarios of testdata/scenarios: the published bugs, each made small, and similar
// accidents that recipes survive. shows is a pattern that the story or the measurements must have:
// without it the accident of the name did not happen.
var corpus = []struct{ name, shows string }{
	{"zk-lock-waits-for-itself", "which belongs to a's own session"},
	{"apache-queue-loses-an-element", "is lost"},
	{"lock-survives-lost-connections", "is told: session-expired"},
	{"queue-survives-lost-replies", "expires session"},
	{"lock-survives-lost-reply-to-its-create", `hits a's #\d+ create /lock/_c_G\d+-lock-`},
	{"lock-survives-expiry-while-it-waits", "zombie window: b could not know for"},
	{"queue-survives-lost-reply-to-its-multi", `hits b's #\d+ multi /queue/claims/G\d+`},
	{"herd-lock-survives-late-reap", `hits b's #\d+ getData /lock/herd`},
	{"reentrant-lock-survives-lost-reply-to-its-release",
		`hits b's #\d+ delete /reentrant/_c_G\d+-lock-`},
	{"rwlock-survives-lost-reply-to-its-downgrade", `hits b's #\d+ multi /rwlock/_c_G\d+-write-`},
	{"rwlock-survives-expiry-of-a-waiting-writer", "expires session"},
	{"version-rwlock-survives-lost-reply-to-its-multi", `hits a's #\d+ multi /rwlock`},
	{"semaphore-survives-lost-reply-to-its-lease",
		`hits b's #\d+ create /semaphore/leases/_c_G\d+-lease-`},
	{"semaphore-survives-expiry-of-whose-turn-it-is", "expires session"},
	{"multi-lock-survives-expiry-between-its-locks", "expires session"},
	{"revocable-lock-survives-lost-reply-to-the-question",
		`hits b's #\d+ setData /revocable/_c_G\d+-lock-`},
	{"lock-queue-survives-lost-reply-to-its-acknowledgement",
		`hits b's #\d+ multi /queue/items/_c_G\d+-item-`},
	{"lock-queue-survives-expiry-of-a-consumer", "expires session"},
	{"leader-latch-survives-late-reap-of-the-leader", "late-reap-unlike"},
	{"leader-selector-survives-lost-reply-to-its-candidacy",
		`hits a's #\d+ create /election/_c_G\d+-lock-`},
	{"barrier-survives-lost-reply-to-its-removal", `hits a's #\d+ delete /barriers/b`},
	{"double-barrier-survives-lost-reply-to-its-group", `hits b's #\d+ multi /double/ready-G\d+`},
	{"double-barrier-survives-a-missed-event-of-its-own-doing", `hits a's event NodeDataChanged`},
	{"double-barrier-survives-expiry-inside", "expires session"},
	{"threshold-barrier-survives-lost-reply-to-its-opening", `hits b's #\d+ multi /thresholds/t`},
	{"threshold-barrier-survives-expiry-of-a-waiting-member", "expires session"},
	{"two-phase-commit-survives-lost-reply-to-the-decision",
		`hits a's #\d+ multi /transactions/t0/decision`},
	{"two-phase-commit-survives-expiry-before-a-vote", "expires session"},
	{"priority-queue-survives-lost-reply-to-its-removal", `hits b's #\d+ multi /queue/claims/G\d+`},
	{"delay-queue-survives-lost-reply-to-its-removal", `hits b's #\d+ multi /queue/claims/G\d+`},
	{"id-queue-survives-lost-reply-to-its-discard", `hits a's #\d+ multi /queue/claims/G\d+`},
	{"turn-queue-survives-expiry-of-whose-turn-it-is", "expires session"},
	{"counter-survives-lost-reply-to-its-multi", `hits a's #\d+ multi /counter`},
	{"value-survives-lost-reply-to-its-multi", `hits a's #\d+ multi /value`},
	{"id-generator-survives-lost-reply-to-its-block", `hits a's #\d+ multi /ids`},
	{"tree-cache-survives-expiry-before-it-lists", `hits c's #\d+ getChildren2 /cache`},
	{"children-cache-survives-a-lost-event", `hits b's event NodeCreated /cache`},
	{"node-cache-survives-a-lost-event", `hits b's event NodeCreated /cache`},
	{"config-survives-lost-reply-to-its-multi", `hits a's #\d+ multi /config/keys/y`},
	{"group-survives-late-reap-of-a-member", "late-reap-unlike"},
	{"persistent-node-survives-lost-reply-to-its-create", `hits b's #\d+ create /members/x`},
	{"registry-survives-expiry-of-a-registration", "expires session"},
}

// TestCorpus: every scenario file has the recorded outcome, to the byte of its trace, and shows the
// accident of its name. After a deliberate change of traces run it with -update. A new file needs
// no trace for that.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.yaml")
	check.OK(t, err)
	check.Equal(t, len(files), len(corpus), "files, one for each line of corpus")
	for _, c := range corpus {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join("testdata", "scenarios", c.name+".yaml")
			file, err := saved.Load(name, builtin.Workloads().Find)
			check.OK(t, err)
			shows := regexp.MustCompile(c.shows)
			if testrun.Update() {
				o := firstThat(t, file.Scenario, !strings.Contains(c.name, "survives"), shows)
				file = saved.Of(o)
				check.OK(t, file.Save(name))
			}
			if file.Trace == "" {
				t.Error("no trace is recorded")
			}
			r, err := file.Check(true)
			check.OK(t, err)
			for _, p := range r.Problems {
				t.Error(p)
			}
			if told := told(r.Outcome); !shows.MatchString(told) {
				t.Errorf("%q is expected in:\n%s", c.shows, told)
			}
		})
	}
}

// told is all that a reader of an outcome is told.
func told(o *scenario.Outcome) string {
	return o.Story() + strings.Join(o.Measurements(), "\n")
}

// firstThat tries seeds, from that of the scenario on, until one shows the pattern. All scenarios
// must be violated or none: the name of a scenario is its expected outcome.
func firstThat(
	t *testing.T, s scenario.Scenario, violated bool, shows *regexp.Regexp,
) *scenario.Outcome {
	t.Helper()
	for range 200 {
		o := run(t, s)
		switch {
		case violated == (o.Property() != "") && shows.MatchString(told(o)):
			return o
		case !violated && o.Property() != "":
			t.Fatalf("%q is violated:\n%s", o.Property(), told(o))
		}
		s.Seed++
	}
	t.Fatalf("no seed up to %d shows %q", s.Seed, shows)
	return nil
}
