package wire

import (
	"testing"

	"github.com/zksim/zksim/internal/check"
)

func TestMalformedText(t *testing.T) {
	const x = "\ufffd"
	for in, want := range map[string]string{
		"plain":                    "plain",
		"\xe2\x82":                 x,
		"a\xe2\x82b":               "a" + x + "b",
		"\xf0\x9f\x98":             x,
		"\xf0\x9f":                 x,
		"\xf0\x80\x80\x80":         x + x + x + x,
		"\xf4\x90\x80\x80":         x + x + x + x,
		"\xf1\x80\x80\xc0":         x + x,
		"\xed\xa0\x80":             x,
		"\xed\xa0\xbd\xed\xb8\x80": x + x,
		"\xed\xa0":                 x,
		"\xe0\x80\x80":             x + x + x,
		"\xc0\x80":                 x + x,
		"\xff\xfe\x80":             x + x + x,
		"\xf8\x88\x80\x80\x80":     x + x + x + x + x,
		"\xe2\x82\xe2\x82\xac":     x + "€",
		"\xc3(":                    x + "(",
	} {
		check.Equal(t, Text([]byte(in)), want, "%q", in)
	}
}

func TestServerWritesSurrogatePairs(t *testing.T) {
	for in, want := range map[string]string{
		"/€":           "\x00\x00\x00\x04/€",
		"/\U0001f600a": "\x00\x00\x00\x08/\xed\xa0\xbd\xed\xb8\x80a",
	} {
		check.Equal(t, string(appendText(nil, in)), want, "%q", in)
		check.Equal(t, string(joinSurrogates([]byte(want[4:]))), in, "joined again")
	}
}
