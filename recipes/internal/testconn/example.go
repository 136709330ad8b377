package testconn

import "fmt"

// ExampleT stands in for the *testing.T that an example does not have.
type ExampleT struct{ cleanups []func() }

func (*ExampleT) Helper()                   {}
func (*ExampleT) Failed() bool              { return false }
func (*ExampleT) Logf(string, ...any)       {}
func (t *ExampleT) Cleanup(f func())        { t.cleanups = append(t.cleanups, f) }
func (*ExampleT) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (*ExampleT) Errorf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// End calls the clean-ups, the last first.
func (t *ExampleT) End() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}
