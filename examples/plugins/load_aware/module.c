/* SPDX-License-Identifier: Apache-2.0 */
/* What load_aware.go is in plugin.h's words: tables cannot be written in Go. */
#include <string.h>

#include "_cgo_export.h"

/* The host, as functions that Go can call. */
ks_status load_fail(const ks_host* host, ks_call* call, char* text) {
  return host->fail(call, KS_ERROR, (ks_str){text, strlen(text)});
}
void load_log(const ks_host* host, int32_t level, char* text) {
  host->log(host, level, (ks_str){text, strlen(text)});
}
void load_count(const ks_host* host, char* event) {
  host->count(host, (ks_str){event, strlen(event)}, 1);
}
ks_str load_node_name(const ks_host* host, ks_node* node) { return host->node_name(node); }

static void* create(const ks_host* host, ks_str args, ks_call* call) {
  return (void*)loadAwareCreate((ks_host*)host, args, call);
}
static void close_plugin(void* self) { loadAwareClose((uintptr_t)self); }
static ks_status score(void* self, ks_call* call, const ks_pod* pod, const ks_node* node,
                       int64_t* result) {
  (void)call;
  (void)pod;
  *result = loadAwareScore((uintptr_t)self, (ks_node*)node);
  return KS_SUCCESS;
}
static uint64_t outside_version(void* self) { return loadAwareVersion((uintptr_t)self); }

static const ks_plugin plugin = {
    .size = sizeof(ks_plugin),
    .name = "LoadAware",
    .flags = KS_PLUGIN_NODE_LOCAL,
    .create = create,
    .close = close_plugin,
    .score = score,
    .outside_version = outside_version,
};
static const ks_plugin* const plugins[] = {&plugin};
static const ks_module module = {
    .magic = KS_PLUGIN_MAGIC,
    .abi_version = KS_PLUGIN_ABI_VERSION,
    .size = sizeof(ks_module),
    .name = "load-aware",
    .version = "1.0",
    .plugins = plugins,
    .plugin_count = 1,
};

const ks_module* kubesched_module(void) { return &module; }
