package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
)

// Ports are taken below the range from which Linux and macOS take the ports of outgoing
// connections: a client that keeps dialling a stopped server would sooner or later be given the
// server's own port, connect to itself and keep it.
const (
	firstPort  = 20000
	blockSize  = 16
	blockCount = 625
)

// holdPorts reserves free loopback TCP ports for the servers of one control plane, and writes them to a
// file, one a line. They are a block of neighbours. The port before them stays open as long as this
// process lives, so no other control plane can take the block, even while none of its servers runs.
func holdPorts(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: kubernetes hold-ports N FILE")
	}
	count, err := strconv.Atoi(args[0])
	if err != nil || count < 1 || count >= blockSize {
		return fmt.Errorf("not a number of ports below %d: %q", blockSize, args[0])
	}
	for _, block := range mathrand.Perm(blockCount) {
		first := firstPort + block*blockSize
		holder, err := listen(first)
		if err != nil {
			continue
		}
		ports, isFree := freePorts(first+1, count)
		if !isFree {
			holder.Close()
			continue
		}
		// A reader sees all of them, or no file.
		partial := args[1] + ".partial"
		if err := os.WriteFile(partial, []byte(ports), 0o644); err != nil {
			return err
		}
		if err := os.Rename(partial, args[1]); err != nil {
			return err
		}
		for {
			connection, err := holder.Accept()
			if err != nil {
				return err
			}
			connection.Close()
		}
	}
	return errors.New("no free ports")
}

// freePorts returns the ports from the first one, one a line, and whether nothing listens on any of them.
func freePorts(first, count int) (string, bool) {
	var lines strings.Builder
	for port := first; port < first+count; port++ {
		listener, err := listen(port)
		if err != nil {
			return "", false
		}
		listener.Close()
		fmt.Fprintln(&lines, port)
	}
	return lines.String(), true
}

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}

// serviceAccountKey writes a new private key, PEM, to the file its argument names.
func serviceAccountKey(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: kubernetes service-account-key FILE")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return os.WriteFile(args[0], block, 0o600)
}
