package object

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// Scripts, traces and judges know payloads by their names. "a1" is the payload a1. "a1~4096" is the
// payload of 4096 bytes that ends in a1 and is filled up with the filler. Long payloads of a run
// differ in their last bytes only.

const (
	filler = "~"
	// shortest is the least length of a long payload. It is longer than any name.
	shortest = 512
)

// named is the name of a payload of the run: in one of eight, all are long.
func named(p *scenario.Player, name string) string {
	if length := p.PayloadLength(); length > 0 {
		return fmt.Sprint(name, filler, length)
	}
	return name
}

// isEmpty reports whether the payload of a turn is empty: in some runs the first one of one client
// is.
func isEmpty(p *scenario.Player, turn int) bool {
	return p.Goroutine() == 0 && turn == 0 && p.Index() == p.OfRun("empty", 6)
}

// payloadOf is the payload of a name.
func payloadOf(name string) []byte {
	end, digits, long := strings.Cut(name, filler)
	length, err := strconv.Atoi(digits)
	if !long || err != nil {
		return []byte(name)
	}
	return []byte(strings.Repeat(filler, length-len(end)) + end)
}

// payloadName is the name of a payload. Different payloads have different names, even if an object
// has cut off or mixed up their bytes.
func payloadName(payload string) string {
	if len(payload) < shortest || !strings.HasPrefix(payload, filler) {
		return payload
	}
	return fmt.Sprint(strings.TrimLeft(payload, filler), filler, len(payload))
}

// nameIn returns a function that reads the name of a payload in the data of a znode. read finds the
// payload in the data; nil means that all data is the payload.
func nameIn(read func(string) (string, bool)) func(string) (string, bool) {
	return func(data string) (string, bool) {
		found := true
		if read != nil {
			data, found = read(data)
		}
		return payloadName(data), found
	}
}

// withNames is a history in which the data of each znode is the name of a payload.
func withNames(h linearizability.History) linearizability.History {
	h.Server = slices.Clone(h.Server)
	for i, ev := range h.Server {
		h.Server[i].Data = payloadName(ev.Data)
	}
	return h
}
