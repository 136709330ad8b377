package main

import "github.com/zksim/zksim/bench/internal/figure"

// memory measures the server's memory for znodes and connections.
func memory(l *runner) (string, error) {
	const state = "./fakezk/internal/state"
	idle, err := l.bench(nil, "./fakezk", "Idle", "-benchtime", "1x")
	if err != nil {
		return "", err
	}
	perConn, err := metric(idle, "IdleConnection", "B/conn")
	if err != nil {
		return "", err
	}
	tree, err := l.bench(nil, state, "Memory", "-benchtime", "1x")
	if err != nil {
		return "", err
	}
	perNode, err := metric(tree, "Memory", "B/znode")
	if err != nil {
		return "", err
	}
	return paragraph("On the Go heap of the server, an idle TCP connection with its session takes "+
		"%s KB. A znode of a tree with a million takes %s bytes, without its data.",
		figure.Significant(perConn/1000), rounded(perNode)) +
		commandBlock(benchShown("./fakezk", "Idle"), benchShown(state, "Memory")), nil
}

// attacks measures what one hostile client costs the others.
func attacks(l *runner) (string, error) {
	out, err := l.measured("./load", "attack")
	return paragraph("One client attacks, five others ping without a pause; the longest ping is the "+
		"longest wait of one of them. The memory is that of the server's process: before the attack, "+
		"at its highest, and ten seconds after; 0 if the process has ended. The server ours-3 is an "+
		"ensemble of three in one process, with the innocent clients on all three.") + out, err
}
