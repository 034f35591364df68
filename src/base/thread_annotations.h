// SPDX-License-Identifier: Apache-2.0
#pragma once
// Clang's thread-safety attributes under names of our own; they vanish on other compilers. The
// clang-analysis preset turns violations into errors. Not for lock types themselves: use ks::Mutex
// (base/mutex.h).

#if defined(__clang__)
#define KS_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define KS_THREAD_ANNOTATION(x)
#endif

#define KS_CAPABILITY(x) KS_THREAD_ANNOTATION(capability(x))
#define KS_SCOPED_CAPABILITY KS_THREAD_ANNOTATION(scoped_lockable)
#define KS_GUARDED_BY(x) KS_THREAD_ANNOTATION(guarded_by(x))
#define KS_PT_GUARDED_BY(x) KS_THREAD_ANNOTATION(pt_guarded_by(x))
#define KS_ACQUIRED_BEFORE(...) KS_THREAD_ANNOTATION(acquired_before(__VA_ARGS__))
#define KS_ACQUIRED_AFTER(...) KS_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))
#define KS_REQUIRES(...) KS_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define KS_EXCLUDES(...) KS_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define KS_ACQUIRE(...) KS_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define KS_TRY_ACQUIRE(...) KS_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define KS_RELEASE(...) KS_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define KS_NO_THREAD_SAFETY_ANALYSIS KS_THREAD_ANNOTATION(no_thread_safety_analysis)
