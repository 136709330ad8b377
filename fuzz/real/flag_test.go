package real

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/recipes"
)

// TestTheFlagPlaysOnARunningServer: with an address as -zksim.servers, fuzz.Test passes right code
// and fails wrong code. A goal that its few runs do not reach is no failure.
func TestTheFlagPlaysOnARunningServer(t *testing.T) {
	t.Chdir(t.TempDir()) // for the file of the failure
	address := realzk.Start(t, options()).Address()
	testrun.SetFlag(t, "zksim.servers", address)
	testrun.SetFlag(t, "zksim.runs", "1")
	counter := object.Counter(func(env object.Env) object.Counterer {
		return recipes.NewCounter(env.Conn, env.Path)
	})
	counter.Sometimes = []string{"the moon is full"}
	fuzz.Test(t, counter)
	failure := failureOf(t, func(tb fuzz.TB) {
		fuzz.Test(tb, object.Counter(func(object.Env) object.Counterer { return lazy{} }))
	})
	check.Contains(t, failure, "is violated")
	check.Contains(t, failure, "-zksim.servers="+address)
	testrun.SetFlag(t, "zksim.servers", "127.0.0.1:1")
	failure = failureOf(t, func(tb fuzz.TB) { fuzz.Test(tb, counter) })
	check.Contains(t, failure, "-zksim.servers: 127.0.0.1:1: ")
}

// lazy is a counter that does not count.
type lazy struct{}

func (lazy) Add(context.Context, int64) (int64, error) { return 0, nil }

// failureOf is the text with which a test fails.
func failureOf(t *testing.T, test func(fuzz.TB)) (text string) {
	t.Helper()
	defer func() {
		failed, ok := recover().(failed)
		if !ok {
			t.Error("the test has not failed")
		}
		text = strings.TrimSpace(string(failed))
	}()
	test(failing{t})
	return ""
}

type failed string

// failing is a test that tells of its failure by a panic.
type failing struct{ *testing.T }

func (failing) Fatalf(format string, args ...any) { panic(failed(fmt.Sprintf(format, args...))) }
