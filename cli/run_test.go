package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// TestReplayOfAPanicIsNotOk in all forms of output, although the judge finds nothing.
func TestReplayOfAPanicIsNotOk(t *testing.T) {
	w := ownKind("parcel", "panicking")
	play := w.Play
	w.Play = func(p *scenario.Player, s scenario.Script) {
		play(p, s)
		panic("the parcel is torn")
	}
	name := filepath.Join(t.TempDir(), "torn.yaml")
	const text = "workload: parcel\nimplementation: panicking\nclients: 1\nrounds: 1\n" +
		"seed: 1\nexpect: violated\nproperty: panic\n"
	check.OK(t, os.WriteFile(name, []byte(text), 0o666))
	const verdict = "  panic           violated  "
	for args, wants := range map[string][]string{
		"replay --trace": {"\nviolated\n", verdict, "the parcel is torn"},
		"replay":         {verdict},
		"replay --json":  {`"property": "panic",` + "\n" + `        "status": "violated",`},
	} {
		zksim(t.Context(), args+" "+name, w).has(t, command.ExitOK, wants...)
	}
}
