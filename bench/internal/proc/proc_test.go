package proc

import (
	"runtime"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
)

func TestProcessorTimeOfAStatFile(t *testing.T) {
	const fields = " S 1 2 3 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 12345 1 2\n"
	for _, name := range []string{"(java)", "(a ) S (b)", "()"} {
		got, err := parseCPUTime([]byte("4711 " + name + fields))
		if err != nil || got != 3*time.Second {
			t.Errorf("%s: %v, %v; expected 3s", name, got, err)
		}
	}
	for _, bad := range []string{"", "4711 (java)", "4711 (java) S 1 2 3",
		"4711 (java) S 1 2 3 0 -1 4194560 100 0 0 0 x 50 0"} {
		if got, err := parseCPUTime([]byte(bad)); err == nil {
			t.Errorf("%q: %v, expected an error", bad, got)
		}
	}
}

func TestResidentMemoryOfAStatusFile(t *testing.T) {
	if got, err := parseResident("Name:\tx\nVmHWM:\t   900 kB\nVmRSS:\t   812 kB\n"); err != nil ||
		got != 812<<10 {
		t.Errorf("%d, %v; expected 812 KiB", got, err)
	}
	for _, bad := range []string{"", "VmRSS:\n", "VmRSS:\tmuch kB\n"} {
		if got, err := parseResident(bad); err == nil {
			t.Errorf("%q: %d, expected an error", bad, got)
		}
	}
}

func TestModelIsThatOfTheFirstProcessor(t *testing.T) {
	const info = "processor\t: 0\nmodel name\t: Some CPU @ 1.00GHz\n\nmodel name\t: Another\n"
	check.Equal(t, model(info), "Some CPU @ 1.00GHz")
	check.Equal(t, model("processor\t: 0\n"), runtime.GOARCH, "without a name")
}
