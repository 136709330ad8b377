// Package otel shows how the events of recipes become metrics of OpenTelemetry. Copy Observer into
// your program, and give it to a recipe:
//
//	observe, err := otel.Observer(meterProvider.Meter("recipes"))
//	lock := recipes.NewLock(conn, "/locks/report", recipes.Observe(observe))
//
// It is a module of its own, so that nothing else of zksim depends on OpenTelemetry.
package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/zksim/zksim/recipes"
)

// Observer returns an observer of recipes with three metrics, each by the path of the recipe:
//
//   - zookeeper.recipe.events: the number of events, by kind: "wait", "grant", "release", "loss",
//     "retry", "answer";
//   - zookeeper.recipe.wait.duration: the time of waits for other clients;
//   - zookeeper.recipe.hold.duration: the time of holds, by their end: "release" or "loss".
func Observer(meter metric.Meter) (func(recipes.Event), error) {
	events, err := meter.Int64Counter("zookeeper.recipe.events",
		metric.WithUnit("{event}"), metric.WithDescription("events of recipes"))
	if err != nil {
		return nil, err
	}
	waits, err := meter.Float64Histogram("zookeeper.recipe.wait.duration",
		metric.WithUnit("s"), metric.WithDescription("waits for other clients"))
	if err != nil {
		return nil, err
	}
	holds, err := meter.Float64Histogram("zookeeper.recipe.hold.duration",
		metric.WithUnit("s"), metric.WithDescription("times for which something was held"))
	if err != nil {
		return nil, err
	}
	return func(e recipes.Event) {
		ctx, path := context.Background(), attribute.String("path", e.Path)
		kind := attribute.String("kind", e.Kind.String())
		events.Add(ctx, 1, metric.WithAttributes(path, kind))
		switch e.Kind {
		case recipes.EventGrant:
			waits.Record(ctx, e.Took.Seconds(), metric.WithAttributes(path))
		case recipes.EventRelease, recipes.EventLoss:
			holds.Record(ctx, e.Took.Seconds(), metric.WithAttributes(path, kind))
		}
	}, nil
}
