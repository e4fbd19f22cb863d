import { newId } from "../../util/ids.js";
import type { ProviderChunk } from "../provider.js";
import type { WireToolCall } from "./chunk.js";

interface OpenCall {
  /** What the server calls it; may be missing or used twice. */
  readonly wireId: string | undefined;
  /** Unique within the answer. */
  readonly id: string;
  readonly index: number | undefined;
  /** Among the calls of the event that began it. */
  readonly position: number | undefined;
  isNamed: boolean;
  /** What came before the name, or all of the JSON so far. */
  json: string;
}

/** Puts the pieces of parallel tool calls in their places, also where a server is careless with index or id. */
export interface ToolCallReader {
  readonly count: number;
  /** `position`: its place among the calls that came in one event, where there were several. */
  read(piece: WireToolCall, position?: number): Iterable<ProviderChunk>;
  end(): Iterable<ProviderChunk>;
}

export function createToolCallReader(): ToolCallReader {
  const calls: OpenCall[] = [];

  const open = (piece: WireToolCall, position: number | undefined): OpenCall => {
    const wireId = piece.id || undefined;
    const isTaken = calls.some((call) => call.id === wireId);
    const call: OpenCall = {
      wireId,
      id: wireId === undefined || isTaken ? newId("call") : wireId,
      index: piece.index ?? undefined,
      position,
      isNamed: false,
      json: "",
    };
    calls.push(call);
    return call;
  };

  return {
    get count() {
      return calls.length;
    },
    *read(piece, position) {
      const call = find(calls, piece, position) ?? open(piece, position);
      const name = piece.function?.name;
      const input = piece.function?.arguments;
      const json = typeof input === "string" ? input : input ? JSON.stringify(input) : "";
      call.json += json;
      if (!call.isNamed) {
        if (!name) return;
        call.isNamed = true;
        yield { kind: "tool_call", id: call.id, name };
        if (call.json !== "") yield { kind: "tool_input", id: call.id, json: call.json };
      } else if (json !== "") {
        yield { kind: "tool_input", id: call.id, json };
      }
    },
    *end() {
      // A call that never got a name still needs an answer, which will say that there is no such tool.
      for (const call of calls) {
        if (call.isNamed) continue;
        yield { kind: "tool_call", id: call.id, name: "unknown" };
        if (call.json !== "") yield { kind: "tool_input", id: call.id, json: call.json };
      }
    },
  };
}

function find(calls: readonly OpenCall[], piece: WireToolCall, position: number | undefined): OpenCall | undefined {
  const found =
    typeof piece.index === "number"
      ? calls.findLast((call) => call.index === piece.index)
      : piece.id
        ? calls.findLast((call) => call.wireId === piece.id)
        : position === undefined
          ? calls.at(-1)
          : calls.findLast((call) => call.position === position);
  return found !== undefined && startsAnother(found, piece) ? undefined : found;
}

/** Some servers send every call under index 0 or without any: a new id, or a name after complete JSON, tells them apart. */
function startsAnother(call: OpenCall, piece: WireToolCall): boolean {
  if (!piece.function?.name) return false;
  if (piece.id) return call.wireId !== undefined && piece.id !== call.wireId;
  return call.isNamed && isComplete(call.json);
}

function isComplete(json: string): boolean {
  if (!json.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}
