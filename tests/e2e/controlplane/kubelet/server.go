package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	crilogs "k8s.io/cri-client/pkg/logs"
)

// kubelet answers for all nodes. Which of its two ports an API server uses is in the status of a Node.
type kubelet struct {
	pods    *pods
	files   logFiles
	streams *streams
	faults  *faults
}

// serve runs until it is killed. It listens when it has read the Pods once.
func serve(arguments []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "the API server that has the Pods")
	directory := flags.String("logs", "", "the directory with the logs")
	listen := flags.String("listen", "", "an address for API servers: HTTPS with HTTP/2 and HTTP/1.1, as of a kubelet")
	listenHTTP1 := flags.String("listen-http1", "", "an address for API servers: HTTPS with HTTP/1.1 alone")
	control := flags.String("control", "", "an address for tests: HTTP; see faults.go")
	flags.Parse(arguments)
	client, err := newClient(*kubeconfig)
	if err != nil {
		return err
	}
	files := logFiles{*directory}
	held, err := watchPods(context.Background(), client, files.endInvented)
	if err != nil {
		return err
	}
	k := &kubelet{pods: held, files: files, streams: newStreams(), faults: &faults{}}
	certificate, err := selfSigned()
	if err != nil {
		return err
	}
	failed := make(chan error)
	go func() { failed <- k.listen(*listen, certificate, "h2", "http/1.1") }()
	go func() { failed <- k.listen(*listenHTTP1, certificate, "http/1.1") }()
	go func() { failed <- http.ListenAndServe(*control, k.controls()) }()
	return <-failed
}

// listen serves API servers with these protocols. A kubelet ends each answer after four hours; this one does not.
func (k *kubelet) listen(address string, certificate tls.Certificate, protocols ...string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.containerLogs)
	server := &http.Server{
		Addr:      address,
		Handler:   mux,
		ConnState: k.streams.noteConnection,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: protocols},
	}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(protocols[0] == "h2")
	return server.ListenAndServeTLS("", "")
}

// containerLogs answers one request. Once the first byte is out, the status is 200, and the text of an error ends the
// log: so does a kubelet.
func (k *kubelet) containerLogs(w http.ResponseWriter, r *http.Request) {
	namespace, name, container := r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container")
	open := k.streams.open(w, r, namespace+"/"+name+"/"+container)
	defer k.streams.close(open)
	fault := k.faults.take(open.what)
	select {
	case <-time.After(fault.delay):
	case <-open.context.Done():
		return
	}
	if fault.text != "" || fault.status != http.StatusOK {
		answer(w, fault.status, fault.text)
		return
	}
	pod := k.pods.get(namespace, name)
	if pod == nil {
		answer(w, http.StatusNotFound, fmt.Sprintf("pod %q does not exist", name))
		return
	}
	if !hasContainer(pod, container) {
		answer(w, http.StatusNotFound, fmt.Sprintf("container %q not found in pod %q", container, name))
		return
	}
	options, err := logOptions(r.URL.Query())
	if err != nil {
		answer(w, http.StatusBadRequest, `{"message": "Unable to decode query."}`)
		return
	}
	id, err := logContainer(pod, container, r.URL.Query().Get("previous") == "true")
	if err != nil {
		answer(w, http.StatusBadRequest, err.Error())
		return
	}
	w.Header().Set("Transfer-Encoding", "chunked")
	out := flushing{w}
	out.Write(nil)
	if err := k.invent(namespace, name, container, id); err != nil {
		io.WriteString(out, err.Error())
		return
	}
	path, err := k.files.find(namespace, name, container, id)
	if err != nil || fault.isGone {
		io.WriteString(out, "unable to retrieve container logs for "+id)
		return
	}
	lacksWatches := options.Follow && (fault.lacksWatches || k.streams.exceedsFollows())
	options.Follow = options.Follow && !lacksWatches
	runtime := containerRuntime{pods: k.pods, pod: pod, container: container}
	err = crilogs.ReadLogs(open.context, path, id, options, runtime, out, out)
	if err == nil && lacksWatches {
		err = errors.New("failed to create fsnotify watcher: too many open files")
	}
	if err != nil && open.context.Err() == nil {
		io.WriteString(out, err.Error())
	}
}

// logOptions reads the options that an API server passes on.
func logOptions(query url.Values) (*crilogs.LogOptions, error) {
	options := &crilogs.LogOptions{Follow: query.Get("follow") == "true", Timestamp: query.Get("timestamps") == "true"}
	var since *int64
	var failed error
	for name, number := range map[string]**int64{
		"tailLines": &options.TailLines, "limitBytes": &options.LimitBytes, "sinceSeconds": &since,
	} {
		if text := query.Get(name); text != "" {
			value, err := strconv.ParseInt(text, 10, 64)
			failed = errors.Join(failed, err)
			*number = &value
		}
	}
	if since != nil {
		options.Since = time.Now().Add(-time.Duration(*since) * time.Second)
	}
	if text := query.Get("sinceTime"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		failed = errors.Join(failed, err)
		options.Since = at
	}
	return options, failed
}

// answer sends a whole answer.
func answer(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	io.WriteString(w, text)
}

// flushing sends each write at once: a line, or a part of one.
type flushing struct{ http.ResponseWriter }

func (f flushing) Write(text []byte) (int, error) {
	written, err := f.ResponseWriter.Write(text)
	f.ResponseWriter.(http.Flusher).Flush()
	return written, err
}

// selfSigned returns a certificate that only this process knows. An API server accepts any, unless it is started with
// an authority for kubelets.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().AddDate(1, 0, 0),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
