// SPDX-License-Identifier: Apache-2.0

// LoadAware prefers nodes with little load, as a Prometheus server says: it asks in the background,
// and a score is a look into what came last. In Go; module.c has the tables.
//
//	pluginConfig:
//	- name: LoadAware
//	  args:
//	    url: http://prometheus.monitoring:9090
//	    query: 1 - avg by (node) (rate(node_cpu_seconds_total{mode="idle"}[5m]))  # from 0 to 1
//	    label: node      # whose value is the node's name
//	    every: 10s
//
// A node that the answer does not name, or an answer older than five rounds, scores 0.
//
//	CGO_CFLAGS=-I$PWD/include go build -C examples/plugins/load_aware -buildmode=c-shared -o load_aware.so
package main

/*
#include <stdlib.h>
#include "kubesched/plugin.h"

ks_status load_fail(const ks_host *host, ks_call *call, char *text);
void load_log(const ks_host *host, int32_t level, char *text);
void load_count(const ks_host *host, char *event);
ks_str load_node_name(const ks_host *host, ks_node *node);
*/
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/cgo"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

type settings struct {
	URL   string `json:"url"`
	Query string `json:"query"`
	Label string `json:"label"`
	Every string `json:"every"`
}

type plugin struct {
	host     *C.ks_host
	settings settings
	every    time.Duration
	scores   atomic.Pointer[map[string]int64] // by node; never nil
	version  atomic.Uint64
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

func readSettings(args string) (settings, time.Duration, error) {
	read := settings{
		Query: `1 - avg by (node) (rate(node_cpu_seconds_total{mode="idle"}[5m]))`,
		Label: "node",
		Every: "10s",
	}
	if args != "" {
		if err := json.Unmarshal([]byte(args), &read); err != nil {
			return read, 0, err
		}
	}
	if read.URL == "" {
		return read, 0, errors.New("url is missing: give that of a Prometheus server")
	}
	every, err := time.ParseDuration(read.Every)
	if err == nil && every <= 0 {
		err = errors.New("every must be above 0")
	}
	return read, every, err
}

// The answer to an instant query: a vector of [time, "value"].
type answer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		Result []struct {
			Metric map[string]string `json:"metric"`
			Value  [2]any            `json:"value"`
		} `json:"result"`
	} `json:"data"`
}

func (p *plugin) ask(ctx context.Context) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, p.every)
	defer cancel()
	address := p.settings.URL + "/api/v1/query?query=" + url.QueryEscape(p.settings.Query)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var got answer
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		return nil, fmt.Errorf("%s: %w", response.Status, err)
	}
	if got.Status != "success" {
		return nil, fmt.Errorf("%s: %s", response.Status, got.Error)
	}
	scores := make(map[string]int64, len(got.Data.Result))
	for _, entry := range got.Data.Result {
		text, _ := entry.Value[1].(string)
		load, err := strconv.ParseFloat(text, 64)
		if name := entry.Metric[p.settings.Label]; err == nil && name != "" {
			scores[name] = int64(100 * (1 - min(max(load, 0), 1)))
		}
	}
	return scores, nil
}

func (p *plugin) show(scores map[string]int64) {
	p.scores.Store(&scores)
	p.version.Add(1)
}

func (p *plugin) log(level C.int32_t, text string) {
	own := C.CString(text)
	defer C.free(unsafe.Pointer(own))
	C.load_log(p.host, level, own)
}

func (p *plugin) run(ctx context.Context) {
	defer p.done.Done()
	ticker := time.NewTicker(p.every)
	defer ticker.Stop()
	failures := 0
	for {
		scores, err := p.ask(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
			p.show(scores)
		default:
			failures++
			event := C.CString("failed queries")
			C.load_count(p.host, event)
			C.free(unsafe.Pointer(event))
			p.log(C.KS_LOG_WARNING, "the load is unknown: "+err.Error())
			if failures == 5 {
				p.show(map[string]int64{})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

//export loadAwareCreate
func loadAwareCreate(host *C.ks_host, args C.ks_str, call *C.ks_call) C.uintptr_t {
	text := C.GoStringN(args.data, C.int(args.size))
	read, every, err := readSettings(text)
	if err != nil {
		reason := C.CString(err.Error())
		defer C.free(unsafe.Pointer(reason))
		C.load_fail(host, call, reason)
		return 0
	}
	ctx, cancel := context.WithCancel(context.Background())
	made := &plugin{host: host, settings: read, every: every, cancel: cancel}
	made.scores.Store(&map[string]int64{})
	made.done.Add(1)
	go made.run(ctx)
	return C.uintptr_t(cgo.NewHandle(made))
}

func of(self C.uintptr_t) *plugin { return cgo.Handle(self).Value().(*plugin) }

//export loadAwareClose
func loadAwareClose(self C.uintptr_t) {
	closed := of(self)
	closed.cancel()
	closed.done.Wait()
	cgo.Handle(self).Delete()
}

//export loadAwareScore
func loadAwareScore(self C.uintptr_t, node *C.ks_node) C.int64_t {
	p := of(self)
	name := C.load_node_name(p.host, node)
	return C.int64_t((*p.scores.Load())[unsafe.String((*byte)(unsafe.Pointer(name.data)), int(name.size))])
}

//export loadAwareVersion
func loadAwareVersion(self C.uintptr_t) C.uint64_t { return C.uint64_t(of(self).version.Load()) }

func main() {}
