package recipes_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
)

// TestSASLUserSharesALock: the lock of ExampleACL is open to bob, who comes by kazoo, and closed to
// a client without a user.
func TestSASLUserSharesALock(t *testing.T) {
	t.Parallel()
	python := pythonWith("kazoo.client", "puresasl")
	server := fakezk.Start(t, fakezk.Options{SASLUsers: map[string]string{"bob": "secret"}})
	users := append(zk.DigestACL(zk.PermAll, "ann", "password"),
		zk.ACL{Perms: zk.PermAll, Scheme: "sasl", ID: "bob"})
	ann := server.Connect(t)
	check.OK(t, ann.AddAuth("digest", []byte("ann:password")))
	lock := recipes.NewLock(ann, "/locks/report", recipes.ACL(users...))
	check.OK(t, lock.Lock(t.Context()))
	check.OK(t, lock.Close(t.Context()))
	if python == "" {
		t.Skip("the test needs a Python with kazoo and puresasl")
	}
	bob := exec.Command(python, "testdata/sasl.py", server.Listen(t))
	bob.Stderr = os.Stderr
	out, err := bob.Output()
	check.OK(t, err)
	check.Equal(t, string(out), "NoAuthError\nTrue\n")
}
