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
)

// Ports are taken below the range from which Linux and macOS take the ports of outgoing
// connections: a client that keeps dialling a stopped server would sooner or later be given the
// server's own port, connect to itself and keep it.
const (
	firstPort  = 20000
	portCount  = 10000
	portTrials = 1000
)

// freePorts prints as many free loopback TCP ports as its argument says, one a line.
func freePorts(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: kubernetes free-ports N")
	}
	count, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("not a number of ports: %w", err)
	}
	// All stay open until the last is found, so that no two are the same.
	for trial := 0; count > 0; trial++ {
		if trial == portTrials {
			return errors.New("no free ports")
		}
		port := firstPort + mathrand.IntN(portCount)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		defer listener.Close()
		fmt.Println(port)
		count--
	}
	return nil
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
