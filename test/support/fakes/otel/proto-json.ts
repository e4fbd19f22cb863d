import { readFileSync } from "node:fs";
import { projectFile } from "../../project.js";

interface Field {
  readonly type: string;
  readonly isRepeated: boolean;
  /** Of the choice that it belongs to. */
  readonly oneof: string | undefined;
}

type Message = ReadonlyMap<string, Field>;

interface Protocol {
  /** By the last part of their names, which are unique here. */
  readonly messages: ReadonlyMap<string, Message>;
  readonly enums: ReadonlyMap<string, ReadonlySet<number>>;
}

const files = ["common", "resource", "trace", "trace_service"];
/** OTLP writes these in hex, where protobuf's JSON has base64. */
const hexIds = new Map([
  ["traceId", 32],
  ["spanId", 16],
  ["parentSpanId", 16],
]);

/** The messages of OTLP 1.9.0, out of its published definitions. */
export function readProtocol(): Protocol {
  const messages = new Map<string, Map<string, Field>>();
  const enums = new Map<string, Set<number>>();
  for (const file of files) {
    const text = readFileSync(projectFile(`test/fixtures/otlp/${file}.proto`), "utf8");
    const plain = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    const open: { readonly kind: string; readonly name: string }[] = [];
    for (const [statement] of plain.matchAll(/[^;{}]*[;{}]/g)) readStatement(statement.trim(), open, messages, enums);
  }
  return { messages, enums };
}

function readStatement(
  statement: string,
  open: { readonly kind: string; readonly name: string }[],
  messages: Map<string, Map<string, Field>>,
  enums: Map<string, Set<number>>,
): void {
  const begun = /^(message|enum|oneof|service|rpc)\b\s*(\w+)[\s\S]*\{$/.exec(statement);
  if (begun !== null) {
    const [, kind = "", name = ""] = begun;
    open.push({ kind, name });
    if (kind === "message") messages.set(name, new Map());
    if (kind === "enum") enums.set(name, new Set());
    return;
  }
  if (statement.endsWith("}")) {
    open.pop();
    return;
  }
  const inner = open.at(-1);
  const value = /^\w+\s*=\s*(0x[0-9a-fA-F]+|\d+)\b/.exec(statement)?.[1];
  if (inner?.kind === "enum" && value !== undefined) enums.get(inner.name)?.add(Number(value));
  const field = /^(repeated\s+)?([\w.]+)\s+(\w+)\s*=\s*\d+/.exec(statement);
  const message = open.findLast(({ kind }) => kind === "message");
  if (field === null || message === undefined || inner?.kind === "enum" || /^reserved/.test(statement)) return;
  const [, repeated, type = "", name = ""] = field;
  messages.get(message.name)?.set(camelCase(name), {
    type: type.split(".").at(-1) ?? type,
    isRepeated: repeated !== undefined,
    oneof: inner?.kind === "oneof" ? inner.name : undefined,
  });
}

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** What is wrong with a message in OTLP's JSON form; nothing that is unknown is let through. */
export function protocolProblems(protocol: Protocol, type: string, value: unknown, path = type): readonly string[] {
  const fields = protocol.messages.get(type);
  if (fields === undefined) return [`${path}: ${type} is not a message`];
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${path} is not an object`];
  const chosen = Object.keys(value).flatMap((name) => fields.get(name)?.oneof ?? []);
  const twice = new Set(chosen).size === chosen.length ? [] : [`${path} has two of one choice`];
  const problems = Object.entries(value).flatMap(([name, held]) => {
    const field = fields.get(name);
    const at = `${path}.${name}`;
    if (field === undefined) return [`${at} is not a field`];
    if (!field.isRepeated) return valueProblems(protocol, field.type, name, held, at);
    if (!Array.isArray(held)) return [`${at} is not a list`];
    return held.flatMap((one, index) => valueProblems(protocol, field.type, name, one, `${at}[${index}]`));
  });
  return [...twice, ...problems];
}

function valueProblems(
  protocol: Protocol,
  type: string,
  name: string,
  value: unknown,
  path: string,
): readonly string[] {
  const known = protocol.enums.get(type);
  if (known !== undefined) return typeof value === "number" && known.has(value) ? [] : [`${path} is not of ${type}`];
  if (protocol.messages.has(type)) return protocolProblems(protocol, type, value, path);
  return isScalar(type, name, value) ? [] : [`${path} is not ${type}: ${JSON.stringify(value)}`];
}

function isScalar(type: string, name: string, value: unknown): boolean {
  const hexDigits = hexIds.get(name);
  switch (type) {
    case "string":
      return typeof value === "string";
    case "bool":
      return typeof value === "boolean";
    case "bytes":
      return (
        typeof value === "string" &&
        (hexDigits === undefined ? /^[\w+/=-]*$/.test(value) : new RegExp(`^[0-9a-fA-F]{${hexDigits}}$`).test(value))
      );
    case "int64":
      return typeof value === "string" && /^-?\d+$/.test(value);
    case "fixed64":
    case "uint64":
      return typeof value === "string" && /^\d+$/.test(value);
    case "uint32":
    case "fixed32":
      return Number.isInteger(value) && Number(value) >= 0;
    case "double":
      return typeof value === "number";
    default:
      return false;
  }
}
