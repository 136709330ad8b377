package museum

import "errors"

// failing makes a naked lock give up as it is when one of its steps finds errFailed:
// its node stays. One such node is enough to show it, so the next attempts use the
// same second one. What else goes wrong it survives.
func failing(l *naked) *naked {
	failed := false
	l.fatal = func(err error) bool {
		if !errors.Is(err, errFailed) {
			return false
		}
		if !failed {
			l.own, failed = "", true // wrong: nobody deletes it
		}
		return true
	}
	return l
}

// errFailed is what a wrong step returns for something that it does not expect.
var errFailed = errors.New("this was not expected")
