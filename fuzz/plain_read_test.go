package fuzz_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/recipes"
)

// plainCounter reads without a sync.
type plainCounter struct {
	*recipes.Counter
	conn *zk.Conn
}

func (c plainCounter) Get(context.Context) (int64, error) {
	data, _, err := c.conn.Get("/counter")
	if errors.Is(err, zk.ErrNoNode) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(data), 10, 64)
}

// TestAFindingSaysThatItNeedsSeveralServers, unless the user has asked for them.
func TestAFindingSaysThatItNeedsSeveralServers(t *testing.T) {
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "test.short", "false") // two clients do not do
	testrun.SetFlag(t, "zksim.runs", "300")
	w := object.Counter(func(env object.Env) object.Counterer {
		return plainCounter{recipes.NewCounter(env.Conn, "/counter"), env.Conn}
	})
	const hint = "zksim: this needs several servers"
	_, text := tested("TestPlainCounter", w)
	check.Contains(t, text, "linearizability is violated")
	check.Contains(t, text, hint)
	testrun.SetFlag(t, "zksim.servers", "3")
	_, text = tested("TestPlainCounterOnThree", w)
	check.Contains(t, text, "linearizability is violated")
	check.Equal(t, strings.Contains(text, hint), false)
}
