package realworld

import (
	"fmt"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// TestWhatAMajorityHas: servers count, not entries of their logs.
func TestWhatAMajorityHas(t *testing.T) {
	for _, test := range []struct {
		name string
		logs [][]int64 // zxids, by server
		want string
	}{
		{"one server", [][]int64{{1, 2}}, "[1 2]"},
		{"one server, one twice", [][]int64{{1, 1, 2}}, "[1 2]"},
		{"a proposal that was lost", [][]int64{{1, 2}, {1}, {1}}, "[1]"},
		{"lost, and one server has it twice", [][]int64{{1, 2, 2}, {1}, {1}}, "[1]"},
		{"all servers have it twice", [][]int64{{1, 1}, {1, 1}, {1, 1}}, "[1]"},
		{"one server was down", [][]int64{{1, 2, 3}, {1}, {1, 2, 3}}, "[1 2 3]"},
		{"one server has no log", [][]int64{{1, 2}, nil, {1, 2}}, "[1 2]"},
		{"half of the servers", [][]int64{{1, 1}, {1}, nil, nil}, "[]"},
	} {
		var logs [][]proto.LogEntry
		for _, zxids := range test.logs {
			var log []proto.LogEntry
			for _, zxid := range zxids {
				log = append(log, proto.LogEntry{Zxid: zxid})
			}
			logs = append(logs, log)
		}
		got := []int64{}
		for _, e := range inMajority(logs) {
			got = append(got, e.Zxid)
		}
		check.Equal(t, fmt.Sprint(got), test.want, "%s", test.name)
	}
}
