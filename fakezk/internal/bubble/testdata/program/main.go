// Program uses bubble.Run outside of any test.
package main

import (
	"fmt"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
)

func main() {
	var elapsed time.Duration
	good := bubble.Run(1, func() {
		began := time.Now()
		time.Sleep(time.Hour)
		elapsed = time.Since(began)
	})
	fmt.Println("good:", good, "after", elapsed)
	fmt.Println("panic:", bubble.Run(1, func() { panic("broken") }))
	fmt.Println("leak:", bubble.Run(1, func() { go func() { select {} }() }).Kind)
	fmt.Println("deadlock:", bubble.Run(1, func() { select {} }).Kind)
}
