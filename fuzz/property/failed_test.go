package property

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// TestTheGuardIsNamed that has ended a run before the body has ended.
func TestTheGuardIsNamed(t *testing.T) {
	for want, result := range map[string]*trace.Result{
		"the run was cut short after 9 steps and 7s of virtual time, and not tried to its end; " +
			"the body's own reads of the tree count as steps, too": {OutOfSteps: true, Steps: 9},
		"the body has not ended after 7s of virtual time, which is the time limit of a run; " +
			"it was not tried to its end": {},
		"the body has not ended after 7s of virtual time, which is the time limit of a run; it was " +
			"not tried to its end: it waits at service_test.go:12": {
			Busy: []string{"a", observer},
			BusyStacks: []string{"", "goroutine 7 [select]:\nlock.(*Lock).Lock(0x1)\n\t/src/lock.go:3 +0x1\n" +
				"service.Test.func1(0x1)\n\t/src/service_test.go:12 +0x1\n\t/src/service_test.go:9 +0x1"},
		},
		"client a gets no further: the code under test has sent 5 requests since step 3 without " +
			"a pause": {Runaway: &trace.Runaway{Client: "a", Requests: 5, Step: 3}},
	} {
		result.Elapsed = 7 * time.Second
		check.Equal(t, new(World).failed(result).value.(string), want)
	}
}
