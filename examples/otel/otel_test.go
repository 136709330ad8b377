package otel_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/zksim/zksim/examples/otel"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/recipes"
)

// TestLockIsMeasured: a lock is held for two seconds and given back, and then lost after three.
func TestLockIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := metric.NewManualReader()
		provider := metric.NewMeterProvider(metric.WithReader(reader))
		observe, err := otel.Observer(provider.Meter("recipes"))
		if err != nil {
			t.Fatal(err)
		}
		server := fakezk.Start(t)
		conn := server.Connect(t)
		lock := recipes.NewLock(conn, "/locks/report", recipes.Observe(observe))
		hold(t, lock, func() { time.Sleep(2 * time.Second) })
		hold(t, lock, func() {
			time.Sleep(3 * time.Second)
			if err := server.ExpireSession(conn.SessionID()); err != nil {
				t.Error(err)
			}
			<-lock.Lost()
		})
		if err := lock.Close(t.Context()); err != nil {
			t.Error(err)
		}
		var measured metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &measured); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"events grant: 2", "events loss: 1", "events release: 1",
			"hold.duration loss: 1 of 3s", "hold.duration release: 1 of 2s",
			"wait.duration : 2 of 0s",
		}
		got := lines(measured)
		got = slices.DeleteFunc(got, func(line string) bool { // the search for the new session
			return strings.HasPrefix(line, "events retry") ||
				strings.HasPrefix(line, "events answer")
		})
		if !slices.Equal(got, want) {
			t.Errorf("got %q; expected %q", got, want)
		}
	})
}

func hold(t *testing.T, lock *recipes.Lock, during func()) {
	t.Helper()
	if err := lock.Lock(context.Background()); err != nil {
		t.Fatal(err)
	}
	during()
	if err := lock.Unlock(context.Background()); err != nil {
		t.Error(err)
	}
}

// lines are the metrics as text, with whole seconds.
func lines(measured metricdata.ResourceMetrics) (list []string) {
	for _, m := range measured.ScopeMetrics[0].Metrics {
		name := strings.TrimPrefix(m.Name, "zookeeper.recipe.")
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				list = append(list, fmt.Sprintf("%s %s: %d", name, kindOf(p.Attributes), p.Value))
			}
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				list = append(list, fmt.Sprintf("%s %s: %d of %.0fs", name, kindOf(p.Attributes),
					p.Count, p.Sum))
			}
		}
	}
	slices.Sort(list)
	return list
}

func kindOf(attributes attribute.Set) string {
	kind, _ := attributes.Value("kind")
	return kind.AsString()
}
