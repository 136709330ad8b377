package saved_test

import (
	"testing"

	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/overlay"
)

// TestCommandsAreReadByAShell as they are meant.
func TestCommandsAreReadByAShell(t *testing.T) {
	for want, test := range map[string]saved.Test{
		"go test -run '^TestA$' -zksim.replay=f.yaml": {Name: "TestA"},
		"go test a.org/b -run '^TestA$/^it'\\''s \\$x$' -zksim.replay=f.yaml": {
			Name: "TestA/it's $x", Package: "a.org/b"},
		"go test -tags=x,y a.org/b -run '^TestA$' -zksim.replay=f.yaml": {
			Name: "TestA", Package: "a.org/b", Tags: "x,y"},
		"zksim go test -tags=x a.org/b -run '^TestA$' -zksim.replay=f.yaml": {
			Name: "TestA", Package: "a.org/b", Tags: "x," + overlay.Tag},
	} {
		check.Equal(t, test.Command("-zksim.replay=f.yaml"), want)
	}
	check.Equal(t, saved.Test{Name: "TestA"}.Command("-zksim.replay=#a 'b'/*.yaml"),
		`go test -run '^TestA$' '-zksim.replay=#a '\''b'\''/*.yaml'`)
}

func TestThisProgramIsATest(t *testing.T) {
	check.Equal(t, saved.TestOf("TestA").Package, "github.com/zksim/zksim/fuzz/saved")
}
