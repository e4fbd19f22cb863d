/** What goes over Feishu's connection, either way: one message of Protocol Buffers (proto2). */
export interface Frame {
  readonly seqId: bigint;
  readonly logId: bigint;
  readonly service: number;
  /** 0: about the connection. 1: something has happened. */
  readonly method: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly payloadEncoding?: string | undefined;
  readonly payloadType?: string | undefined;
  readonly payload?: Uint8Array | undefined;
  readonly logIdNew?: string | undefined;
}

export const methods = { control: 0, data: 1 } as const;

/** Numbers of the fields, and how a field's value is written. https://protobuf.dev/programming-guides/encoding */
const fields = { seqId: 1, logId: 2, service: 3, method: 4, header: 5, encoding: 6, type: 7, payload: 8, logIdNew: 9 };
const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const longestVarint = 10;
const mostHeaders = 100;
const mostFields = 1000;

/** Undefined for what is not such a frame, whatever it holds. */
export function decodeFrame(bytes: Uint8Array): Frame | undefined {
  const found = readFields(bytes);
  if (found === undefined) return undefined;
  const numbers = new Map<number, bigint>();
  const texts = new Map<number, Uint8Array>();
  const headers = new Map<string, string>();
  for (const { field, value } of found) {
    if (typeof value === "bigint") numbers.set(field, value);
    else if (field !== fields.header) texts.set(field, value);
    else if (headers.size < mostHeaders) {
      const pair = readHeader(value);
      if (pair === undefined) return undefined;
      headers.set(...pair);
    }
  }
  const [service, method] = [numbers.get(fields.service), numbers.get(fields.method)];
  if (service === undefined || method === undefined) return undefined;
  return {
    seqId: numbers.get(fields.seqId) ?? 0n,
    logId: numbers.get(fields.logId) ?? 0n,
    service: Number(BigInt.asIntN(32, service)),
    method: Number(BigInt.asIntN(32, method)),
    headers,
    payloadEncoding: textOf(texts.get(fields.encoding)),
    payloadType: textOf(texts.get(fields.type)),
    payload: texts.get(fields.payload),
    logIdNew: textOf(texts.get(fields.logIdNew)),
  };
}

export function encodeFrame(frame: Frame): Uint8Array {
  const headers = [...frame.headers].map(([key, value]) => Buffer.concat([text(1, key), text(2, value)]));
  return Buffer.concat([
    number(fields.seqId, frame.seqId),
    number(fields.logId, frame.logId),
    number(fields.service, BigInt(frame.service)),
    number(fields.method, BigInt(frame.method)),
    ...headers.map((header) => bytesField(fields.header, header)),
    ...(frame.payloadEncoding === undefined ? [] : [text(fields.encoding, frame.payloadEncoding)]),
    ...(frame.payloadType === undefined ? [] : [text(fields.type, frame.payloadType)]),
    ...(frame.payload === undefined ? [] : [bytesField(fields.payload, frame.payload)]),
    ...(frame.logIdNew === undefined ? [] : [text(fields.logIdNew, frame.logIdNew)]),
  ]);
}

interface Field {
  readonly field: number;
  readonly value: bigint | Uint8Array;
}

/** The fields of a message in their order; those of a fixed size are passed over. Undefined: it is not whole. */
function readFields(bytes: Uint8Array): readonly Field[] | undefined {
  const found: Field[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = readVarint(bytes, at);
    if (tag === undefined || found.length >= mostFields) return undefined;
    const field = Number(tag.value >> 3n);
    const kind = Number(tag.value & 7n);
    at = tag.end;
    if (kind === wire.fixed64 || kind === wire.fixed32) {
      at += kind === wire.fixed64 ? 8 : 4;
      if (at > bytes.length) return undefined;
      continue;
    }
    const value = kind === wire.varint || kind === wire.bytes ? readVarint(bytes, at) : undefined;
    if (value === undefined || field === 0) return undefined;
    at = value.end;
    if (kind === wire.varint) found.push({ field, value: value.value });
    else {
      if (value.value > BigInt(bytes.length - at)) return undefined;
      const end = at + Number(value.value);
      found.push({ field, value: bytes.subarray(at, end) });
      at = end;
    }
  }
  return found;
}

function readVarint(bytes: Uint8Array, from: number): { readonly value: bigint; readonly end: number } | undefined {
  let value = 0n;
  for (let n = 0; n < longestVarint; n += 1) {
    const byte = bytes[from + n];
    if (byte === undefined) return undefined;
    value |= BigInt(byte & 0x7f) << BigInt(7 * n);
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: from + n + 1 };
  }
  return undefined;
}

function readHeader(bytes: Uint8Array): readonly [key: string, value: string] | undefined {
  const found = readFields(bytes);
  const textAt = (number: number): string | undefined => {
    const value = found?.findLast(({ field }) => field === number)?.value;
    return typeof value === "bigint" ? undefined : textOf(value);
  };
  const key = textAt(1);
  return key === undefined ? undefined : [key, textAt(2) ?? ""];
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  for (; left > 0x7fn; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(left)]);
}

function number(field: number, value: bigint): Buffer {
  return Buffer.concat([varint(BigInt(field << 3)), varint(value)]);
}

function bytesField(field: number, value: Uint8Array): Buffer {
  return Buffer.concat([varint(BigInt((field << 3) | wire.bytes)), varint(BigInt(value.length)), value]);
}

function text(field: number, value: string): Buffer {
  return bytesField(field, Buffer.from(value));
}
