/* SPDX-License-Identifier: Apache-2.0 */
/* Allocatable: prefers nodes that are small (mode Least) or large (Most), by a weighted sum of what
 * they can allocate, whatever runs on them. In C.
 *
 *   pluginConfig:
 *   - name: Allocatable
 *     args: {mode: Most, resources: [{name: cpu, weight: 1000000}, {name: memory, weight: 1}]}
 *
 * cpu counts in thousandths, memory in bytes. Default: Least, cpu 1048576 and memory 1.
 *
 *   gcc -std=c11 -shared -fPIC -Iinclude examples/plugins/allocatable.c -o allocatable.so */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kubesched/plugin.h"

enum { MOST_RESOURCES = 16 };

struct allocatable {
  const ks_host* host;
  bool most;
  size_t count;
  struct {
    ks_name name;
    int64_t weight;
  } resources[MOST_RESOURCES];
};

static ks_str str(const char* text) { return (ks_str){text, strlen(text)}; }

static bool add(struct allocatable* self, const char* name, long long weight) {
  if (weight <= 0 || self->count == MOST_RESOURCES) return false;
  self->resources[self->count].name = self->host->name(self->host, str(name));
  self->resources[self->count++].weight = weight;
  return true;
}

/* The host writes arguments without white space and with sorted keys, so that they can be read as
 * they are written here. Null: fine. */
static const char* read_args(struct allocatable* self, const char* args) {
  if (strstr(args, "\"mode\":\"Most\"") != NULL) {
    self->most = true;
  } else if (strstr(args, "\"mode\":") != NULL && strstr(args, "\"mode\":\"Least\"") == NULL) {
    return "mode must be Least or Most";
  }
  const char* at = strstr(args, "\"resources\":[");
  if (at == NULL) return add(self, "cpu", 1 << 20) && add(self, "memory", 1) ? NULL : "no room";
  for (at += strlen("\"resources\":["); *at == '{' || *at == ','; ++at) {
    char name[64];
    long long weight = 0;
    int length = 0;
    if (*at == ',') ++at;
    if (sscanf(at, "{\"name\":\"%63[^\"]\",\"weight\":%lld}%n", name, &weight, &length) != 2 ||
        length == 0) {
      return "each of resources must be {name: TEXT, weight: NUMBER}";
    }
    if (!add(self, name, weight)) return "resources: at most 16, with weights above 0";
    at += length - 1;
  }
  return self->count == 0 ? "resources must not be empty" : NULL;
}

static void* create(const ks_host* host, ks_str args, ks_call* call) {
  struct allocatable* self = calloc(1, sizeof(*self));
  char* text = calloc(1, args.size + 1);
  const char* fault = "out of memory";
  if (self != NULL && text != NULL) {
    if (args.size != 0) memcpy(text, args.data, args.size);
    self->host = host;
    fault = read_args(self, text);
  }
  free(text);
  if (fault == NULL) return self;
  free(self);
  host->fail(call, KS_ERROR, str(fault));
  return NULL;
}

static ks_status score(void* opaque, ks_call* call, const ks_pod* pod, const ks_node* node,
                       int64_t* result) {
  const struct allocatable* self = opaque;
  (void)call;
  (void)pod;
  double sum = 0;
  double weights = 0;
  for (size_t i = 0; i < self->count; ++i) {
    const double weight = (double)self->resources[i].weight;
    sum += weight * (double)self->host->node_allocatable(node, self->resources[i].name);
    weights += weight;
  }
  *result = (int64_t)(sum / weights);
  return KS_SUCCESS;
}

/* From 0 to 100 between the smallest and the largest; all alike: 0. */
static ks_status normalize_score(void* opaque, ks_call* call, const ks_pod* pod,
                                 const ks_node* const* nodes, int64_t* scores, size_t count) {
  const struct allocatable* self = opaque;
  (void)call;
  (void)pod;
  (void)nodes;
  if (count == 0) return KS_SUCCESS;
  int64_t least = scores[0];
  int64_t most = scores[0];
  for (size_t i = 1; i < count; ++i) {
    if (scores[i] < least) least = scores[i];
    if (scores[i] > most) most = scores[i];
  }
  for (size_t i = 0; i < count; ++i) {
    const int64_t above = self->most ? scores[i] - least : most - scores[i];
    scores[i] = most == least ? 0 : (int64_t)((double)above * 100 / (double)(most - least));
  }
  return KS_SUCCESS;
}

static const ks_plugin plugin = {
    .size = sizeof(ks_plugin),
    .name = "Allocatable",
    .flags = KS_PLUGIN_NODE_LOCAL,
    .create = create,
    .close = free,
    .score = score,
    .normalize_score = normalize_score,
};
static const ks_plugin* const plugins[] = {&plugin};
static const ks_module module = {
    .magic = KS_PLUGIN_MAGIC,
    .abi_version = KS_PLUGIN_ABI_VERSION,
    .size = sizeof(ks_module),
    .name = "allocatable",
    .version = "1.0",
    .plugins = plugins,
    .plugin_count = 1,
};

const ks_module* kubesched_module(void) { return &module; }
