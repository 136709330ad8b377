package museum

import (
	"errors"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
)

func defaultData() Exhibit {
	return Exhibit{
		ID: "S4-31", Title: "a member comes before the number",
		Report: "https://github.com/apache/curator/blob/master/curator-client/src/main/java/org/apache/curator/utils/ZKPaths.java",
		Bug: "Who joins makes the parents of its node, the barrier itself among them, with no number in it. Then it cannot " +
			"read the number, fails, and leaves its node.",
		Property: linearizability.Orphans,
		Wrong: quorumOf(func(q *quorum) {
			q.join = func() error {
				for _, path := range []string{quorumsDir, quorumPath} {
					if _, err := q.conn.Create(path, nil, 0, acl); err != nil && !errors.Is(err, zk.ErrNodeExists) {
						return err
					}
				}
				return q.joinOnce()
			}
			q.number = func() (int, int32, error) {
				n, version, err := q.readNumber()
				if errors.Is(err, strconv.ErrSyntax) {
					err = errFailed // wrong: nobody deletes the own node
				}
				return n, version, err
			}
		}),
		Right: quorumOf(nil),
	}
}
