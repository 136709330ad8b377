package wire

import (
	"testing"

	"github.com/zksim/zksim/internal/check"
)

func TestServerWritesSurrogatePairs(t *testing.T) {
	for in, want := range map[string]string{
		"/€":           "\x00\x00\x00\x04/€",
		"/\U0001f600a": "\x00\x00\x00\x08/\xed\xa0\xbd\xed\xb8\x80a",
	} {
		check.Equal(t, string(appendText(nil, in)), want, "%q", in)
		check.Equal(t, string(joinSurrogates([]byte(want[4:]))), in, "joined again")
	}
}
