// SPDX-License-Identifier: Apache-2.0
// Objects of recordings in protobuf, as the API server sent them, as far as this page reads them. The numbers are those of k8s.io/api.

const UTF8 = new TextDecoder();

// [number, bytes] of the fields of a message that have a length: all that is read here.
function* fields(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; at < bytes.length; factor *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    return NaN;
  };
  while (at < bytes.length) {
    const tag = varint();
    const form = tag & 7;
    const length = form === 2 ? varint() : 0;
    const begin = at;
    if (form === 0) varint();
    else at += form === 1 ? 8 : form === 5 ? 4 : length;
    if (![0, 1, 2, 5].includes(form) || !(at <= bytes.length)) throw new Error('an object in protobuf is damaged');
    if (form === 2) yield [Math.floor(tag / 8), bytes.subarray(begin, at)];
  }
}

// {number: [name, read, many]} to a function from bytes to an object.
const message = (table) => (bytes) => {
  const object = {};
  for (const [number, value] of fields(bytes)) {
    const [name, read, many] = table[number] ?? [];
    if (many) (object[name] ??= []).push(read(value));
    else if (name) object[name] = read(value);
  }
  return object;
};
const text = (bytes) => UTF8.decode(bytes);
const quantity = message({1: ['text', text]});
const entry = message({1: ['key', text], 2: ['value', quantity]});
const plain = (entries) => Object.fromEntries((entries ?? []).map(({key, value}) => [key ?? '', value?.text ?? '0']));

const metadata = message({1: ['name', text], 3: ['namespace', text]});
const resources = (bytes) => ({requests: plain(message({2: ['requests', entry, true]})(bytes).requests)});
const container = message({8: ['resources', resources], 24: ['restartPolicy', text]});
const podSpec = message({
  2: ['containers', container, true], 10: ['nodeName', text], 20: ['initContainers', container, true], 32: ['overhead', entry, true], 40: ['resources', resources],
});
const nodeStatus = message({2: ['allocatable', entry, true]});
const KINDS = {
  Pod: message({1: ['metadata', metadata], 2: ['spec', podSpec]}),
  Node: message({1: ['metadata', metadata], 3: ['status', nodeStatus]}),
};
const envelope = message({2: ['raw', (bytes) => bytes]});

// `base64`: of a body in Kubernetes' envelope. The object as its JSON would be; of other kinds only the metadata.
export function readProtoObject(kind, base64) {
  const body = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  if (UTF8.decode(body.subarray(0, 4)) !== 'k8s\0') throw new Error('an object is neither JSON nor protobuf of Kubernetes');
  const object = (KINDS[kind] ?? message({1: ['metadata', metadata]}))(envelope(body.subarray(4)).raw ?? new Uint8Array());
  object.metadata ??= {};
  if (kind === 'Pod') object.spec = {...object.spec, overhead: plain(object.spec?.overhead)};
  if (kind === 'Node') object.status = {allocatable: plain(object.status?.allocatable)};
  return object;
}
