// SPDX-License-Identifier: Apache-2.0
#pragma once
/* Scheduling plugins of kubesched as shared objects: the contract between the scheduler (the host)
 * and a library that it loads (a module), version 1. C11 and C++. A module includes this header
 * and links nothing of kubesched. In C++, plugin.hpp is more comfortable.
 * From nothing to a loaded plugin: docs/writing_a_plugin.md. What the points mean: kube-scheduler's
 * scheduling framework, whose words are used.
 *
 * Threads. The scheduling thread calls: create, close, pre_enqueue, pre_filter, post_filter,
 * pre_score, normalize_score, reserve, unreserve, permit, post_bind, hint, sign, outside_version.
 * They must not block. It is not always the same thread of the process: thread-local variables are
 * no place for state. Workers call filter and score, at the same time for different nodes. A pool
 * of threads calls pre_bind, at the same time for different pods; it may block. Threads that a
 * module starts may call the functions of ks_host that are marked "any thread", until close
 * returns; afterwards those return KS_CLOSED.
 *
 * Lifetimes. What the host passes (ks_call, ks_pod, ks_node, texts) is valid until the function
 * that it was passed to returns. What a host function returns for a ks_pod or ks_node is valid as
 * long as that. Texts that the module passes are copied. ks_host, and the module's own
 * description, stay valid for the life of the process: a module is never unloaded.
 *
 * Errors. Host functions check what they can: a null or foreign ks_call, one that is over or was
 * passed to another thread, a point at which the function is not allowed, null texts, names and
 * indices that do not exist. They answer with a code or an empty value and change nothing. No C++
 * exception may leave a module's function. A code that a point may not return, and a score outside
 * of 0 to 100, fail the pod's attempt as they do with a compiled-in plugin. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KS_PLUGIN_ABI_VERSION 1
#define KS_PLUGIN_MAGIC 0x3148435345425543u
#if defined(__GNUC__)
#define KS_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define KS_PLUGIN_EXPORT
#endif

/* UTF-8, not terminated. data may be null when size is 0. */
typedef struct ks_str {
  const char* data;
  size_t size;
} ks_str;

typedef struct ks_pod ks_pod;
typedef struct ks_node ks_node; /* with the pods on it and what they ask for together */
typedef struct ks_call ks_call; /* one call of one function of the module */
typedef struct ks_host ks_host;

/* A name of a label, an annotation or a resource, looked up once (ks_host.name). 0: none. */
typedef uint32_t ks_name;

/* What a function answers: one of these, or what constant_status returned. */
typedef int32_t ks_status;
enum {
  KS_SUCCESS = 0,
  KS_ERROR = 1,
  KS_UNSCHEDULABLE = 2,
  KS_UNSCHEDULABLE_AND_UNRESOLVABLE = 3, /* preemption cannot help */
  KS_WAIT = 4,                           /* permit */
  KS_SKIP = 5,                           /* pre_filter, pre_score: leave me out of this attempt */
  KS_PENDING = 6                         /* unschedulable until something outside happens */
};

/* What host functions answer. */
typedef int32_t ks_result;
enum {
  KS_OK = 0,
  KS_NOT_FOUND = -1,
  KS_INVALID = -2, /* an argument */
  KS_DENIED = -3,  /* not at this point, not on this thread, or the call is over */
  KS_CLOSED = -4,  /* the plugin was closed */
  KS_FULL = -5     /* a limit is reached */
};

enum { KS_LOG_ERROR = 0, KS_LOG_WARNING = 1, KS_LOG_INFO = 2, KS_LOG_DEBUG = 3 /* -v=4 */ };

typedef struct ks_taint {
  ks_str key, value, effect;
} ks_taint;

/* Grows at the end: look at size before using what a later version added. */
struct ks_host {
  size_t size;

  /* ---- any thread ---- */
  /* At most 4096 different ones a plugin; 0 beyond, or for an empty text. */
  ks_name (*name)(const ks_host* host, ks_str text);
  /* An answer with its reason, to be returned again and again without formatting anything: what
   * filter should reject nodes with. At most 1024 a plugin; KS_ERROR beyond, or for KS_SUCCESS. */
  ks_status (*constant_status)(const ks_host* host, ks_status code, ks_str reason);
  void (*log)(const ks_host* host, int32_t level, ks_str message);
  int32_t (*log_enabled)(const ks_host* host, int32_t level);
  /* The scheduler's clock, ns since 1970: virtual in replays and simulations. */
  int64_t (*now)(const ks_host* host);
  /* kubesched_plugin_events_total{plugin,event} and
   * kubesched_plugin_duration_seconds{plugin,operation}. At most 64 of each a plugin. */
  ks_result (*count)(const ks_host* host, ks_str event, double by);
  ks_result (*observe)(const ks_host* host, ks_str operation, double seconds);
  /* What follows is done a little later, on the scheduling thread. To be tried now, whatever it
   * waits for: */
  ks_result (*activate)(const ks_host* host, ks_str pod_namespace, ks_str pod_name);
  /* Ends the wait of a pod that this plugin's permit asked for. A pod that does not wait is passed
   * over. */
  ks_result (*allow)(const ks_host* host, ks_str pod_uid);
  ks_result (*reject)(const ks_host* host, ks_str pod_uid, ks_str message);

  /* ---- the thread of the call, while it lasts ---- */
  /* Adds a reason to the answer of this call and returns `code`, for: return fail(...). In create
   * the reason why it returns null, in sign why the pod cannot be signed. */
  ks_status (*fail)(ks_call* call, ks_status code, ks_str reason);
  /* One datum of this plugin for one attempt, from pre_filter to post_bind; shared by copies of the
   * attempt's state, which preemption makes. `destroy` (may be null) is called once, on any
   * thread, also if set answers with an error. Set: pre_filter, post_filter, pre_score, reserve,
   * permit. Get: those, filter, score, normalize_score, pre_bind, unreserve, post_bind; null if
   * nothing was set. */
  ks_result (*state_set)(ks_call* call, void* data, void (*destroy)(void* data));
  void* (*state_get)(ks_call* call);
  /* The nodes of this attempt: pre_filter to permit. Null: out of range, no such node, denied. */
  size_t (*node_count)(ks_call* call);
  const ks_node* (*node_at)(ks_call* call, size_t index);
  const ks_node* (*find_node)(ks_call* call, ks_str name);
  /* Any pod that the scheduler knows, also pending ones. Not in filter, score and pre_bind. */
  const ks_pod* (*find_pod)(ks_call* call, ks_str pod_namespace, ks_str pod_name);
  /* pre_filter: the pod can go to these nodes only; calls add up. None and never called differ. */
  ks_result (*only_nodes)(ks_call* call, const ks_str* names, size_t count);
  /* post_filter: how node_at(index) was rejected; what the pod is nominated to ("": nothing). */
  ks_status (*node_status)(ks_call* call, size_t index);
  ks_result (*nominate)(ks_call* call, ks_str node_name);
  /* sign: what was read of the pod, as name and JSON text. */
  ks_result (*sign)(ks_call* call, ks_str key, ks_str json);

  /* ---- any thread, as long as the pod or node is valid; a null one looks empty ---- */
  ks_str (*pod_namespace)(const ks_pod* pod);
  ks_str (*pod_name)(const ks_pod* pod);
  ks_str (*pod_uid)(const ks_pod* pod);
  ks_str (*pod_node_name)(const ks_pod* pod); /* empty: not bound */
  ks_str (*pod_scheduler_name)(const ks_pod* pod);
  int32_t (*pod_priority)(const ks_pod* pod);
  /* 1 and *value, or 0. */
  int32_t (*pod_label)(const ks_pod* pod, ks_name key, ks_str* value);
  size_t (*pod_label_count)(const ks_pod* pod);
  ks_result (*pod_label_at)(const ks_pod* pod, size_t index, ks_str* key, ks_str* value);
  int32_t (*pod_annotation)(const ks_pod* pod, ks_name key, ks_str* value); /* KS_NEEDS_… */
  /* What filtering counts; cpu in thousandths, other resources in their unit. Computes the whole
   * pod: ask once, not in filter. */
  int64_t (*pod_request)(const ks_pod* pod, ks_name resource);
  ks_str (*pod_json)(const ks_pod* pod); /* KS_NEEDS_POD_JSON, else empty */

  ks_str (*node_name)(const ks_node* node);
  int32_t (*node_label)(const ks_node* node, ks_name key, ks_str* value);
  size_t (*node_label_count)(const ks_node* node);
  ks_result (*node_label_at)(const ks_node* node, size_t index, ks_str* key, ks_str* value);
  int32_t (*node_annotation)(const ks_node* node, ks_name key, ks_str* value);
  int32_t (*node_unschedulable)(const ks_node* node);
  size_t (*node_taint_count)(const ks_node* node);
  ks_result (*node_taint_at)(const ks_node* node, size_t index, ks_taint* taint);
  /* Units as in pod_request. */
  int64_t (*node_allocatable)(const ks_node* node, ks_name resource);
  int64_t (*node_requested)(const ks_node* node, ks_name resource);
  size_t (*node_pod_count)(const ks_node* node);
  const ks_pod* (*node_pod_at)(const ks_node* node, size_t index); /* null: out of range */
  ks_str (*node_json)(const ks_node* node);                        /* KS_NEEDS_NODE_JSON */
};

/* Events that may make a pod schedulable that this plugin rejected. */
enum {
  KS_EVENT_POD = 1, /* any pod */
  KS_EVENT_ASSIGNED_POD = 2,
  KS_EVENT_UNSCHEDULED_POD = 3,
  KS_EVENT_TARGET_POD = 4, /* the pod itself */
  KS_EVENT_NODE = 5,
  KS_EVENT_ANY = 6
};
/* Bits, as kube-scheduler's ActionType. */
enum {
  KS_ACTION_ADD = 1,
  KS_ACTION_DELETE = 2,
  KS_ACTION_UPDATE_NODE_ALLOCATABLE = 4,
  KS_ACTION_UPDATE_NODE_LABEL = 8,
  KS_ACTION_UPDATE_NODE_TAINT = 16,
  KS_ACTION_UPDATE_NODE_CONDITION = 32,
  KS_ACTION_UPDATE_NODE_ANNOTATION = 64,
  KS_ACTION_UPDATE_POD_LABEL = 512,
  KS_ACTION_UPDATE_POD_SCALE_DOWN = 1024,
  KS_ACTION_UPDATE_POD_TOLERATION = 4096,
  KS_ACTION_UPDATE = 32764,
  KS_ACTION_ALL = 32767
};
typedef struct ks_event {
  uint32_t resource;
  uint32_t actions;
} ks_event;
/* Null: not of that kind, or not there. */
typedef struct ks_event_objects {
  size_t size;
  const ks_pod *old_pod, *new_pod;
  const ks_node *old_node, *new_node; /* without pods */
} ks_event_objects;
enum { KS_HINT_SKIP = 0, KS_HINT_QUEUE = 1 };

/* Filter's verdict and score of a node follow from the pod's spec, the node and its pods, the
 * number of nodes and outside_version, and from nothing else; whether pre_filter and pre_score
 * skip, from the pod's spec, and pre_score does not look at nodes: the host remembers verdicts and
 * scores until the node changes. */
#define KS_PLUGIN_NODE_LOCAL 1u

/* One plugin. `self` is what create returned. A null function: the plugin has no such point. Static
 * and constant. Grows at the end. */
typedef struct ks_plugin {
  size_t size;      /* sizeof(ks_plugin) */
  const char* name; /* in profiles: letters, digits, - . _ /; at most 63 */
  uint32_t flags;
  /* args: pluginConfig's args as JSON, empty without. Null: refused, for the reason that fail was
   * told. A start, a reload and a check-config make the plugin several times, some of them only to
   * close it. */
  void* (*create)(const ks_host* host, ks_str args, ks_call* call);
  /* The last call. Must have ended the threads that use self. May be null. */
  void (*close)(void* self);

  ks_status (*pre_enqueue)(void* self, ks_call* call, const ks_pod* pod);
  ks_status (*pre_filter)(void* self, ks_call* call, const ks_pod* pod);
  ks_status (*filter)(void* self, ks_call* call, const ks_pod* pod, const ks_node* node);
  ks_status (*post_filter)(void* self, ks_call* call, const ks_pod* pod);
  ks_status (*pre_score)(void* self, ks_call* call, const ks_pod* pod, const ks_node* const* nodes,
                         size_t count);
  ks_status (*score)(void* self, ks_call* call, const ks_pod* pod, const ks_node* node,
                     int64_t* score);
  ks_status (*normalize_score)(void* self, ks_call* call, const ks_pod* pod,
                               const ks_node* const* nodes, int64_t* scores, size_t count);
  ks_status (*reserve)(void* self, ks_call* call, const ks_pod* pod, ks_str node_name);
  void (*unreserve)(void* self, ks_call* call, const ks_pod* pod, ks_str node_name);
  /* KS_WAIT: until allow, reject or *timeout_ms, at most 15 minutes. */
  ks_status (*permit)(void* self, ks_call* call, const ks_pod* pod, ks_str node_name,
                      int64_t* timeout_ms);
  ks_status (*pre_bind)(void* self, ks_call* call, const ks_pod* pod, ks_str node_name);
  void (*post_bind)(void* self, ks_call* call, const ks_pod* pod, ks_str node_name);

  /* Null: kube-scheduler's default list. event_count 0 beside it: no event helps. */
  const ks_event* events;
  size_t event_count;
  /* Whether events[index] can help the pod. Null: always. */
  int32_t (*hint)(void* self, ks_call* call, size_t index, const ks_pod* pod,
                  const ks_event_objects* objects);
  /* KS_SUCCESS, or KS_UNSCHEDULABLE: the pod cannot be signed. */
  ks_status (*sign)(void* self, ks_call* call, const ks_pod* pod);
  /* Changes when what a node-local plugin reads elsewhere changed. */
  uint64_t (*outside_version)(void* self);
} ks_plugin;

/* What the host must keep of each object for the module. */
#define KS_NEEDS_POD_ANNOTATIONS 1u
#define KS_NEEDS_POD_JSON 2u
#define KS_NEEDS_NODE_JSON 4u

/* Static and constant. Grows at the end. */
typedef struct ks_module {
  uint64_t magic;       /* KS_PLUGIN_MAGIC */
  uint32_t abi_version; /* KS_PLUGIN_ABI_VERSION */
  uint32_t needs;
  size_t size;         /* sizeof(ks_module) */
  const char* name;    /* of the module, for the log */
  const char* version; /* its own */
  const ks_plugin* const* plugins;
  size_t plugin_count;
} ks_module;

/* The one symbol of a module. Called once after it was loaded. */
KS_PLUGIN_EXPORT const ks_module* kubesched_module(void);

#ifdef __cplusplus
}
#endif
