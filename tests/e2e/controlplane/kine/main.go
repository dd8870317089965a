// Command kine stores a control plane in SQLite, behind the API of etcd: what k3s runs. It is kine's
// own program with the driver for SQLite alone and with its default settings. The other drivers would
// bring NATS, Pebble, the SDK of AWS and their C code into the build.
package main

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/k3s-io/kine/pkg/drivers"
	"github.com/k3s-io/kine/pkg/drivers/generic"
	"github.com/k3s-io/kine/pkg/drivers/sqlite"
	"github.com/k3s-io/kine/pkg/server"
	"google.golang.org/grpc"
)

// The defaults of kine's flags, and of the gRPC server that it makes.
const (
	emulatedEtcd   = "3.6.11"
	notifyInterval = 5 * time.Second
	maxReceived    = 2 * 1024 * 1024
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: kine ADDRESS FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves the database in a file until a signal asks it to end.
func run(address, file string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var tasks sync.WaitGroup
	_, backend, err := sqlite.New(ctx, &tasks, &drivers.Config{
		DataSourceName:       file + "?" + sqlite.DefaultParams,
		ConnectionPoolConfig: generic.ConnectionPoolConfig{MaxIdle: 20},
		CompactTimeout:       5 * time.Second,
		CompactMinRetain:     1000,
		CompactBatchSize:     1000,
		PollBatchSize:        500,
		PollInterval:         time.Second,
	})
	if err != nil {
		return err
	}
	if err := backend.Start(ctx); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	grpcServer := grpc.NewServer(
		grpc.MaxConcurrentStreams(math.MaxUint32),
		grpc.MaxRecvMsgSize(maxReceived),
		grpc.MaxSendMsgSize(math.MaxInt32),
	)
	server.New(backend, "http", notifyInterval, emulatedEtcd).Register(grpcServer)
	context.AfterFunc(ctx, grpcServer.Stop)
	err = grpcServer.Serve(listener)
	stop()
	tasks.Wait()
	return err
}
