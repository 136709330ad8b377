package model

import (
	"testing"
)

func TestBarrierStep(t *testing.T) {
	checkSteps(t, Barrier.Step, []stepTest[Barrier, BarrierOp]{
		{"raised", false, BarrierOp{Kind: Raise}, []Barrier{true}},
		{"raised again", true, BarrierOp{Kind: Raise}, []Barrier{true}},
		{"lowered", true, BarrierOp{Kind: Lower}, []Barrier{false}},
		{"lowered again", false, BarrierOp{Kind: Lower}, []Barrier{false}},
		{"maybe raised", false, BarrierOp{Kind: Raise, Outcome: Maybe}, []Barrier{false, true}},
		{"not lowered", true, BarrierOp{Kind: Lower, Outcome: NoEffect}, []Barrier{true}},
		{"passed", false, BarrierOp{Kind: See}, []Barrier{false}},
		{"passed, though it is up", true, BarrierOp{Kind: See}, nil},
		{"seen up", true, BarrierOp{Kind: See, Up: true}, []Barrier{true}},
		{"seen up, though it is down", false, BarrierOp{Kind: See, Up: true}, nil},
	})
}
