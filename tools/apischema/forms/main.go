// SPDX-License-Identifier: Apache-2.0

// Prints random objects of the kinds that a scheduler reads, one a line: {"hex": protobuf, "want": JSON}, both as the API's own
// serializers write them. Arguments: how many of each kind, and the seed.
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

var kinds = []runtime.Object{
	&corev1.Pod{}, &corev1.Node{}, &corev1.Namespace{}, &corev1.Service{}, &corev1.ReplicationController{}, &appsv1.ReplicaSet{},
	&appsv1.StatefulSet{}, &policyv1.PodDisruptionBudget{}, &corev1.PersistentVolume{}, &corev1.PersistentVolumeClaim{},
	&storagev1.StorageClass{}, &storagev1.CSINode{}, &storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{},
	&storagev1.VolumeAttachment{}, &resourcev1.ResourceClaim{}, &resourcev1.ResourceSlice{}, &resourcev1.DeviceClass{},
	&resourcev1.DeviceTaintRule{}, &schedulingv1beta1.PodGroup{}, &schedulingv1alpha3.CompositePodGroup{}, &coordinationv1.Lease{},
	&coordinationv1beta1.LeaseCandidate{},
}

// Types of which one member is set: two would be read in another order from each form.
var unions = map[reflect.Type]bool{
	reflect.TypeOf(corev1.VolumeSource{}): true, reflect.TypeOf(corev1.PersistentVolumeSource{}): true,
	reflect.TypeOf(resourcev1.DeviceAttribute{}): true,
}

// Types of which nothing is read.
var left = map[reflect.Type]bool{
	reflect.TypeOf(corev1.PodTemplateSpec{}): true, reflect.TypeOf(corev1.Probe{}): true, reflect.TypeOf(corev1.Lifecycle{}): true,
	reflect.TypeOf(corev1.SecurityContext{}): true, reflect.TypeOf(corev1.EnvVar{}): true, reflect.TypeOf(corev1.EnvFromSource{}): true,
	reflect.TypeOf(corev1.ContainerState{}): true, reflect.TypeOf(corev1.PodSecurityContext{}): true,
	reflect.TypeOf(metav1.ManagedFieldsEntry{}): true, reflect.TypeOf(corev1.NodeConfigStatus{}): true,
}

type filler struct{ *rand.Rand }

func (f filler) text() string {
	return []string{"", "a", "x/y", "ü\"<", "true", "Always", "In", "Exists", "10"}[f.Intn(9)]
}

// What has a form of its own. False: it has none.
func (f filler) special(v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*p = resource.MustParse([]string{"0", "1", "250m", "3Gi", "1e3", "5500n", "-2"}[f.Intn(7)])
	case *metav1.Time:
		if f.Intn(3) > 0 {
			*p = metav1.NewTime(time.Unix(1+f.Int63n(4e9), 0).UTC())
		}
	case *metav1.MicroTime:
		if f.Intn(3) > 0 {
			*p = metav1.NewMicroTime(time.Unix(1+f.Int63n(4e9), 1000*f.Int63n(1e6)).UTC())
		}
	case *runtime.RawExtension:
		p.Raw = []byte([]string{`{}`, `{"a":"b"}`, `{"a":[1,null]}`}[f.Intn(3)])
	case *intstr.IntOrString:
		*p = intstr.FromInt32(f.Int31n(9))
	case *metav1.TypeMeta:
	default:
		return left[v.Type()]
	}
	return true
}

func (f filler) fillStruct(v reflect.Value) {
	if unions[v.Type()] {
		one := v.Field(f.Intn(v.NumField()))
		if one.Kind() == reflect.Pointer {
			one.Set(reflect.New(one.Type().Elem()))
			f.fill(one.Elem())
		} else {
			f.fill(one)
		}
		return
	}
	for i := 0; i < v.NumField(); i++ {
		f.fill(v.Field(i))
	}
}

func (f filler) fill(v reflect.Value) {
	if f.special(v) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.text())
	case reflect.Bool:
		v.SetBool(f.Intn(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 7, 1 << 30}[f.Intn(5)])
	case reflect.Pointer:
		if f.Intn(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for range f.Intn(3) {
			element := reflect.New(v.Type().Elem()).Elem()
			f.fill(element)
			v.Set(reflect.Append(v, element))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range f.Intn(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.SetString([]string{"a.b/c", "cpu", "storage"}[i] + f.text())
			f.fill(value)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		f.fillStruct(v)
	default:
		panic(v.Type().String())
	}
}

func main() {
	count, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	seed, err := strconv.ParseInt(os.Args[2], 10, 64)
	if err != nil {
		panic(err)
	}
	f := filler{rand.New(rand.NewSource(seed))}
	serializer := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	for _, kind := range kinds {
		for range count {
			object := reflect.New(reflect.TypeOf(kind).Elem())
			f.fill(object.Elem())
			known := object.Interface().(runtime.Object)
			gvks, _, err := scheme.Scheme.ObjectKinds(known)
			if err != nil {
				panic(err)
			}
			known.GetObjectKind().SetGroupVersionKind(gvks[0])
			var encoded bytes.Buffer
			if err := serializer.Encode(known, &encoded); err != nil {
				panic(err)
			}
			text, err := json.Marshal(known)
			if err != nil {
				panic(err)
			}
			fmt.Printf("{\"hex\":\"%s\",\"want\":%s}\n", hex.EncodeToString(encoded.Bytes()), text)
		}
	}
}
