// Command go shows how a program survives a lost reply, with the go-zookeeper
// client over TCP and zksim serve:
//
//	zksim serve --addr 127.0.0.1:2181 --control 127.0.0.1:8080
//	go run ./examples/go --zk 127.0.0.1:2181 --control 127.0.0.1:8080
//
// It places an order as a sequential node. The control endpoint loses the reply of the create, so
// the client cannot know whether the order exists. A second create could make two. The order
// carries an id, so the program looks for the id first, and ends with exactly one order.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

func main() {
	server := flag.String("zk", "127.0.0.1:2181", "address of the ZooKeeper")
	control := flag.String("control", "127.0.0.1:8080",
		"address of the control endpoint of zksim serve")
	flag.Parse()
	if err := run(os.Stdout, *server, *control); err != nil {
		fmt.Fprintf(os.Stderr, "example: %v\n", err)
		os.Exit(1)
	}
}

// run places an order, loses the reply, and prints the outcome.
func run(out io.Writer, server, control string) error {
	conn, _, err := zk.Connect([]string{server}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close()
	_, err = conn.Create("/orders", nil, 0, zk.WorldACL(zk.PermAll))
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return fmt.Errorf("create /orders: %w", err)
	}
	if err := loseReply(control); err != nil {
		return err
	}
	path, err := placeOrder(out, conn, "4711", "three apples")
	if err != nil {
		return err
	}
	children, err := orders(conn)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "placed %s; orders there are: %d\n", path, len(children))
	return nil
}

// loseReply asks zksim serve to lose the reply of the next create under /orders.
func loseReply(control string) error {
	fault := "drop-reply op=create path=/orders/* request=1"
	res, err := http.Post("http://"+control+"/faults", "text/plain", strings.NewReader(fault))
	if err != nil {
		return fmt.Errorf("inject: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, err := io.ReadAll(res.Body)
		return errors.Join(fmt.Errorf("inject: %s: %s", res.Status, text), err)
	}
	return nil
}

// placeOrder creates one node for an order, however often the connection is lost.
func placeOrder(out io.Writer, conn *zk.Conn, id, text string) (string, error) {
	for {
		path, err := conn.Create(
			"/orders/"+id+"-", []byte(text), zk.FlagSequence, zk.WorldACL(zk.PermAll),
		)
		if !errors.Is(err, zk.ErrConnectionClosed) {
			return path, err
		}
		fmt.Fprintf(out, "create: %v\n", err)
		if path, err = findOrder(conn, id); err != nil {
			return "", err
		}
		if path != "" {
			fmt.Fprintf(out, "the lost request had made %s\n", path)
			return path, nil
		}
	}
}

// findOrder looks for an order; "" if there is none.
func findOrder(conn *zk.Conn, id string) (string, error) {
	names, err := orders(conn)
	for _, name := range names {
		if strings.HasPrefix(name, id+"-") {
			return "/orders/" + name, nil
		}
	}
	return "", err
}

// orders lists all orders. It asks again while the connection is lost: reading twice does no harm.
func orders(conn *zk.Conn) ([]string, error) {
	for {
		names, _, err := conn.Children("/orders")
		switch {
		case errors.Is(err, zk.ErrConnectionClosed), errors.Is(err, zk.ErrNoServer):
		case err != nil:
			return nil, fmt.Errorf("list /orders: %w", err)
		default:
			return names, nil
		}
	}
}
