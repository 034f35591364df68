// SPDX-License-Identifier: Apache-2.0

// Prints what the Go types of the API say of themselves at run time (names of fields, protobuf
// numbers, merge keys): the table in src/apiserver/schema/schema_data*.cc.
package main

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var roots = []any{
	corev1.Namespace{}, corev1.Node{}, corev1.Pod{}, corev1.Event{}, corev1.ConfigMap{}, corev1.Secret{},
	corev1.ServiceAccount{}, corev1.Service{}, corev1.ReplicationController{}, corev1.PersistentVolume{},
	corev1.PersistentVolumeClaim{}, corev1.Binding{}, appsv1.ReplicaSet{}, appsv1.StatefulSet{}, batchv1.Job{},
	policyv1.PodDisruptionBudget{}, policyv1.Eviction{}, coordinationv1.Lease{}, coordinationv1beta1.LeaseCandidate{}, eventsv1.Event{},
	storagev1.StorageClass{}, storagev1.CSINode{}, storagev1.CSIDriver{}, storagev1.CSIStorageCapacity{},
	storagev1.VolumeAttachment{}, schedulingv1.PriorityClass{}, schedulingv1beta1.PodGroup{},
	schedulingv1alpha3.CompositePodGroup{}, schedulingv1beta1.Workload{}, resourcev1.ResourceClaim{}, resourcev1.ResourceClaimTemplate{},
	resourcev1.ResourceSlice{}, resourcev1.DeviceClass{}, resourcev1.DeviceTaintRule{},
	metav1.DeleteOptions{}, metav1.Status{}, authenticationv1.TokenReview{},
	authorizationv1.SubjectAccessReview{}, authorizationv1.SelfSubjectAccessReview{},
	authorizationv1.SelfSubjectRulesReview{},
}

var names = map[reflect.Type]string{}
var taken = map[string]bool{}
var queue []reflect.Type

func nameOf(t reflect.Type) string {
	if n, ok := names[t]; ok {
		return n
	}
	n := t.Name()
	if taken[n] {
		parts := strings.Split(t.PkgPath(), "/")
		n = parts[len(parts)-2] + "." + parts[len(parts)-1] + "." + n
		if taken[n] {
			panic(n)
		}
	}
	taken[n] = true
	names[t] = n
	queue = append(queue, t)
	return n
}

var special = map[reflect.Type]string{
	reflect.TypeOf(resource.Quantity{}):    "Q",
	reflect.TypeOf(intstr.IntOrString{}):   "I",
	reflect.TypeOf(metav1.Time{}):          "T",
	reflect.TypeOf(metav1.MicroTime{}):     "M",
	reflect.TypeOf(runtime.RawExtension{}): "R",
	reflect.TypeOf(metav1.FieldsV1{}):      "F",
}

func typeText(t reflect.Type) string {
	if s, ok := special[t]; ok {
		return s
	}
	named := func(s string) string {
		if t.PkgPath() != "" {
			return s + "<" + t.String() + ">"
		}
		return s
	}
	switch t.Kind() {
	case reflect.String:
		return named("s")
	case reflect.Bool:
		return "b"
	case reflect.Int32:
		return named("i")
	case reflect.Int64:
		return named("l")
	case reflect.Float64:
		return "f"
	case reflect.Ptr:
		return typeText(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "y"
		}
		return "*" + typeText(t.Elem())
	case reflect.Map:
		return "%" + typeText(t.Elem())
	case reflect.Struct:
		return "@" + nameOf(t)
	}
	panic(t.String())
}

func line(t reflect.Type) string {
	var fields []string
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		if f.Type == reflect.TypeOf(metav1.TypeMeta{}) {
			fields = append(fields, "&")
			continue
		}
		parts := strings.Split(f.Tag.Get("json"), ",")
		if parts[0] == "-" {
			continue
		}
		number := ""
		for j, p := range strings.Split(f.Tag.Get("protobuf"), ",") {
			if j == 1 {
				number = p
			}
		}
		if number == "" {
			fmt.Fprintln(os.Stderr, "no protobuf number", t, f.Name)
		}
		omit := false
		for _, p := range parts[1:] {
			if p == "omitzero" || p == "omitempty" && f.Type.Kind() != reflect.Struct {
				omit = true
			}
		}
		if f.Anonymous && parts[0] == "" {
			fields = append(fields, number+"^"+typeText(f.Type))
			continue
		}
		flags := ""
		if !omit {
			flags = "!"
		}
		if f.Type.Kind() == reflect.Ptr {
			flags += "?"
		}
		for _, s := range strings.Split(f.Tag.Get("patchStrategy"), ",") {
			switch s {
			case "merge":
				flags += "(" + f.Tag.Get("patchMergeKey") + ")"
			case "retainKeys":
				flags += "="
			case "replace":
				flags += "$"
			case "":
			default:
				panic(s)
			}
		}
		fields = append(fields, number+parts[0]+":"+typeText(f.Type)+flags)
	}
	return nameOf(t) + " " + strings.Join(fields, " ")
}

func main() {
	for _, r := range roots {
		nameOf(reflect.TypeOf(r))
	}
	var lines []string
	for len(queue) > 0 {
		t := queue[0]
		queue = queue[1:]
		lines = append(lines, line(t))
	}
	sort.Strings(lines)
	for _, l := range lines {
		fmt.Println(l)
	}
}
