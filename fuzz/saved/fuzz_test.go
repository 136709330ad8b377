package saved

import (
	"bytes"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/builtin"
)

// FuzzParseScenario: no bytes cause a panic, and an accepted file is written and read again as the
// same.
func FuzzParseScenario(f *testing.F) {
	const good = "workload: lock\nimplementation: zk.Lock\nclients: 2\nrounds: 1\nseed: " +
		"1\nplan:\n" +
		"  - cut client=a request=1\nexpect: violated\nproperty: liveness\n"
	f.Add([]byte(good))
	f.Add([]byte(strings.Replace(good, "cut client=a", "cut client=z", 1)))
	f.Add([]byte("{workload: lock, clients: 1, rounds: 1, expect: ok, seed: 0x1F}"))
	f.Add([]byte("\ufeff" + good))
	f.Add([]byte("<<: {clients: 3}\n? seed\n: !!int 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f.yaml", data, builtin.Find)
		if err != nil {
			if text := err.Error(); !strings.HasPrefix(text, "f.yaml:") {
				t.Errorf("%q does not name the file", text)
			}
			return
		}
		written := file.Text()
		again, err := Parse("f.yaml", written, builtin.Find)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if rewritten := again.Text(); !bytes.Equal(written, rewritten) {
			t.Errorf("%s\n%s", written, rewritten)
		}
	})
}
