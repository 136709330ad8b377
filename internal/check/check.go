// Package check is for tests only: the checks that most of them make. Each prints the value it got
// and the value it expects. In loops and tables a check also takes the case: a format and its
// operands.
package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// TB is the part of a test that checks use. *testing.T has it, *testing.B and *rapid.T as well.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// OK ends the test at an error.
func OK(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Is reports an error that does not wrap the wanted one.
func Is(t TB, err, want error, of ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%sgot the error %v; want %v", prefix(of), err, want)
	}
}

// Equal compares two values.
func Equal[T comparable](t TB, got, want T, of ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%sgot %s; want %s", prefix(of), shown(got), shown(want))
	}
}

// List compares two slices. One that is empty equals one that is nil.
func List[T comparable](t TB, got, want []T, of ...any) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%sgot %s; want %s", prefix(of), shown(got), shown(want))
	}
}

// Contains reports a text without the wanted part.
func Contains(t TB, got, want string, of ...any) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%sgot %q; want %q in it", prefix(of), got, want)
	}
}

// Diff compares two values of any type by cmp.Diff.
func Diff(t TB, got, want any, of ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s(-want +got)\n%s", prefix(of), diff)
	}
}

func prefix(of []any) string {
	if len(of) == 0 {
		return ""
	}
	return fmt.Sprintf(of[0].(string), of[1:]...) + ": "
}

// shown quotes strings.
func shown(v any) string {
	switch v.(type) {
	case string, []string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprintf("%+v", v)
}
