module github.com/zksim/zksim/bench

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/go-zookeeper/zk v1.0.4
	github.com/zksim/zksim v0.0.0
)

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/petermattis/goid v0.0.0-20260820044319-269ab09b5261 // indirect
	go.yaml.in/yaml/v4 v4.0.0 // indirect
)

replace github.com/zksim/zksim => ../
