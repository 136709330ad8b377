package realworld

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// deleteAll deletes a node and all below it, but for /zookeeper. The error names the nodes that it
// cannot list or delete; it deletes all others. If the connection is lost the error says so.
func deleteAll(conn *zk.Conn, root string) error {
	var d deletion
	d.conn = conn
	if err := d.delete(root); err != nil {
		return err
	}
	return d.kept()
}

// deletion is a deletion of many nodes.
type deletion struct {
	conn    *zk.Conn
	refused []error // by node
}

// deleteRounds is how often the children of a node are deleted. Somebody may add some meanwhile.
const deleteRounds = 3

// delete deletes a node and all below it. Its error is that of a lost connection. To delete a node
// takes a right on its parent only: so the node is listed only if it has children.
func (d *deletion) delete(path string) error {
	for range deleteRounds {
		err := zk.ErrNotEmpty
		if path != "/" {
			err = d.conn.Delete(path, -1)
		}
		if !errors.Is(err, zk.ErrNotEmpty) {
			return d.note(path, err)
		}
		before := len(d.refused)
		if err := d.deleteBelow(path); err != nil || len(d.refused) > before || path == "/" {
			return err
		}
	}
	return d.note(path, errors.New("somebody adds nodes below it"))
}

// deleteBelow deletes what is below a node.
func (d *deletion) deleteBelow(path string) error {
	names, _, err := d.conn.Children(path)
	if err != nil {
		return d.note(path, err)
	}
	for _, name := range names {
		child := childOf(path, name)
		if child == "/zookeeper" {
			continue
		}
		if err := d.delete(child); err != nil {
			return err
		}
	}
	return nil
}

// note notes why a node cannot be deleted. It returns the error of a lost connection.
func (d *deletion) note(path string, err error) error {
	switch {
	case isLost(err):
		return err
	case ignoreNoNode(err) != nil:
		d.refused = append(d.refused, fmt.Errorf("%s: %w", path, err))
	}
	return nil
}

// maxRefused is how many nodes that are not deleted an error names.
const maxRefused = 5

// kept is an error with the nodes that are not deleted, nil if there are none.
func (d *deletion) kept() error {
	if len(d.refused) == 0 {
		return nil
	}
	var list []string
	for _, err := range d.refused[:min(maxRefused, len(d.refused))] {
		list = append(list, err.Error())
	}
	text := "not deleted: " + strings.Join(list, "; ")
	if n := len(d.refused) - maxRefused; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return errors.New(text)
}
