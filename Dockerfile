# An image of zksim serve: one static program on nothing.
#
#	docker build -t zksim .   # or podman
#	docker run --rm -p 127.0.0.1:2181:2181 -p 127.0.0.1:8080:8080 -e ZKSIM_CONTROL_TOKEN=s3cret zksim
#
# Without the variable the control endpoint draws a token and prints it; with the value none it asks
# for no token. The health check is: /zksim dump 127.0.0.1:2181 --path /zookeeper
# examples/compose has it.
#
# A namespace of the control endpoint takes a free port of the container: with namespaces, run it
# with --network=host and addresses of this machine, or start one container for each test process:
#
#	docker run --rm --network=host zksim serve --control 127.0.0.1:8080
FROM docker.io/library/golang:1.25 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags=-s -o /zksim ./cmd/zksim

FROM scratch
COPY --from=build /zksim /zksim
USER 65534:65534
EXPOSE 2181 8080
ENTRYPOINT ["/zksim"]
CMD ["serve", "--addr", "0.0.0.0:2181", "--control", "0.0.0.0:8080", "--control-anywhere"]
