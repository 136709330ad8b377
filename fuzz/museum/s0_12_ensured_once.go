package museum

import (
	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
)

func ensuredOnce() Exhibit {
	return Exhibit{
		ID: "S0-12", Title: "the directory is made, or nobody hears of it",
		Report: "https://github.com/apache/zookeeper/blob/master/zookeeper-recipes/zookeeper-recipes-lock/src/main/java/org/apache/zookeeper/recipes/lock/ProtocolSupport.java",
		Bug: "The directory is made by ensureExists, which asks whether it is there, makes it, and logs what goes wrong. It is " +
			"called once: if the connection breaks over that, whatever is done later fails with NoNode.",
		Property: scenario.InvariantProperty,
		Wrong: withoutDir(func() dirMaker {
			tried := false
			return func(conn *zk.Conn) error {
				if !tried {
					tried = true
					_ = makeQueueDir(conn) // wrong: it may not be there
				}
				return nil
			}
		}),
		Right: withoutDir(func() dirMaker { return makeQueueDir }),
	}
}
