package fourletter_test

import (
	"fmt"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/fourletter"
)

func ExampleTake() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	server := fourletter.Server{
		Engine: engine.New(engine.Config{
			TickTime:          2 * time.Second,
			MinSessionTimeout: 4 * time.Second, MaxSessionTimeout: 40 * time.Second,
		}, now),
		Now: now, Started: now,
		Asker: "127.0.0.1:43522",
		Words: engine.Stats{Received: 1},
	}
	fmt.Println(fourletter.Take("ruok", nil, &server)())
	fmt.Print(fourletter.Take("srvr", nil, &server)())
	// Output:
	// imok
	// Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2024-12-29 17:54 UTC
	// Latency min/avg/max: 0/0.0/0
	// Received: 1
	// Sent: 0
	// Connections: 1
	// Outstanding: 0
	// Zxid: 0x0
	// Mode: standalone
	// Node count: 5
}
