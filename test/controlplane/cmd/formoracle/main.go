// SPDX-License-Identifier: Apache-2.0

// Command formoracle answers what a Kubernetes API server would send of an object, in both forms: the counterpart of
// test/fuzz/forms. Types and serializers are upstream's. An object is taken as it comes out of the server's storage, that is
// out of protobuf; nothing is defaulted or validated, so that there is more of it than a server has.
//
// It reads requests as JSON Lines and answers each with one line, in order:
//
//	{"object": OBJECT}
//	{"protobuf": BASE64}                               the object in the form in which it is stored
//
//	{"object": FORMS, "list": FORMS, "event": FORMS}   the object, a list that has it twice, a watch event of it
//	{"error": TEXT}                                    no such object, or none that a server could print
//
// FORMS is {"json": TEXT, "protobuf": BASE64}.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"kubesched.dev/test/controlplane/internal/jsonlines"
)

type request struct {
	Object   json.RawMessage `json:"object"`
	Protobuf []byte          `json:"protobuf"`
}

type forms struct {
	JSON     string `json:"json"`
	Protobuf []byte `json:"protobuf"`
}

type reply struct {
	Object *forms `json:"object,omitempty"`
	List   *forms `json:"list,omitempty"`
	Event  *forms `json:"event,omitempty"`
	Error  string `json:"error,omitempty"`
}

type converter struct{ json, protobuf runtime.SerializerInfo }

func newConverter() (*converter, error) {
	types := scheme.Codecs.SupportedMediaTypes()
	c := &converter{}
	for mediaType, info := range map[string]*runtime.SerializerInfo{
		runtime.ContentTypeJSON: &c.json, runtime.ContentTypeProtobuf: &c.protobuf,
	} {
		found, ok := runtime.SerializerInfoForMediaType(types, mediaType)
		if !ok {
			return nil, fmt.Errorf("no serializer of %s", mediaType)
		}
		*info = found
	}
	return c, nil
}

func encode(serializer runtime.Encoder, object runtime.Object) ([]byte, error) {
	var out bytes.Buffer
	err := serializer.Encode(object, &out)
	return out.Bytes(), err
}

func (c *converter) forms(object runtime.Object) (*forms, error) {
	text, err := encode(c.json.Serializer, object)
	if err != nil {
		return nil, err
	}
	wire, err := encode(c.protobuf.Serializer, object)
	return &forms{JSON: string(text), Protobuf: wire}, err
}

func (c *converter) event(object *forms) (*forms, error) {
	with := func(serializer runtime.Encoder, raw []byte) ([]byte, error) {
		return encode(serializer, &metav1.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Raw: raw}})
	}
	text, err := with(c.json.StreamSerializer.Serializer, []byte(object.JSON))
	if err != nil {
		return nil, err
	}
	wire, err := with(c.protobuf.StreamSerializer.Serializer, object.Protobuf)
	return &forms{JSON: string(text), Protobuf: wire}, err
}

func (c *converter) list(object runtime.Object, kind schema.GroupVersionKind) (*forms, error) {
	kind.Kind += "List"
	list, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	item := object.DeepCopyObject()
	item.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	if err := meta.SetList(list, []runtime.Object{item, item}); err != nil {
		return nil, err
	}
	list.GetObjectKind().SetGroupVersionKind(kind)
	if access, err := meta.ListAccessor(list); err == nil {
		access.SetResourceVersion("7")
		access.SetContinue("more")
	}
	return c.forms(list)
}

// stored is the object as it is kept.
func (c *converter) stored(asked *request) ([]byte, error) {
	if asked.Protobuf != nil {
		return asked.Protobuf, nil
	}
	object, _, err := c.json.Serializer.Decode(asked.Object, nil, nil)
	if err != nil {
		return nil, err
	}
	return encode(c.protobuf.Serializer, object)
}

func (c *converter) convert(asked *request) (made reply, err error) {
	stored, err := c.stored(asked)
	if err != nil {
		return reply{}, err
	}
	object, kind, err := c.protobuf.Serializer.Decode(stored, nil, nil)
	if err != nil {
		return reply{}, err
	}
	object.GetObjectKind().SetGroupVersionKind(*kind)
	if made.Object, err = c.forms(object); err != nil {
		return reply{}, err
	}
	if made.Event, err = c.event(made.Object); err != nil {
		return reply{}, err
	}
	made.List, err = c.list(object, *kind)
	return made, err
}

func (c *converter) answer(asked *request) (made reply) {
	defer func() {
		if cause := recover(); cause != nil {
			made = reply{Error: fmt.Sprint("panic: ", cause)}
		}
	}()
	made, err := c.convert(asked)
	if err != nil {
		return reply{Error: err.Error()}
	}
	return made
}

func run() error {
	converter, err := newConverter()
	if err != nil {
		return err
	}
	return jsonlines.Answer(converter.answer)
}

func main() { jsonlines.Main("formoracle", run) }
