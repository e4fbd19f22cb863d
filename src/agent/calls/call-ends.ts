import type { ImagePart, ToolUsePart } from "../../events/content.js";
import type { EventDraft } from "../../events/event.js";
import type { MachineInput } from "../../events/machines/input.js";
import type { Machines } from "../../events/machines/run-machines.js";
import type { ToolImage, ToolResult } from "../../tools/tool.js";
import type { PendingCall } from "../turn/resume.js";
import type { TurnLog } from "../turn/turn-log.js";

/** After a crash or a stop: what the model reads in place of a result. */
const interruptedByRestart =
  "interrupted: the gateway restarted while this call ran, so its outcome is unknown. Check before doing it again.";
export const stoppedByPerson = "cancelled: the person stopped the turn while this call ran; its outcome is unknown.";

/** Ends the calls that an earlier attempt had started, for a turn that ends without going on with them. */
export function closeInterrupted(calls: readonly PendingCall[], log: TurnLog, machines: Machines): EventDraft[] {
  return calls.flatMap(({ call, startedAs }) => {
    if (startedAs === undefined) return [];
    const result = interrupted(call.name);
    const outputs = machines.feed(toFinished(call, result, 0));
    return [completion(call, startedAs, result, 0, log), ...log.stored(outputs.stored)];
  });
}

export function interrupted(name: string): ToolResult {
  return { text: interruptedByRestart, isError: true, summary: `${name} was interrupted by a restart` };
}

export function toFinished(call: ToolUsePart, result: ToolResult, durationMs: number): MachineInput {
  return {
    kind: "tool_finished",
    toolCallId: call.id,
    toolName: call.name,
    output: result.text,
    isError: result.isError,
    durationMs,
  };
}

export function completion(
  call: ToolUsePart,
  executionId: string,
  result: ToolResult,
  durationMs: number,
  log: TurnLog,
): EventDraft {
  return log.draft(
    "tool_execution_complete",
    {
      tool_execution_id: executionId,
      tool_call_id: call.id,
      tool_name: call.name,
      output: result.text,
      is_error: result.isError,
      ...(result.isError ? { error_code: errorCodeOf(result) } : {}),
      duration_ms: durationMs,
      summary: result.summary,
      ...(result.outside === undefined ? {} : { outside: result.outside }),
      ...(result.addresses === undefined ? {} : { addresses: result.addresses }),
      ...(result.visited === undefined ? {} : { visited: result.visited }),
      ...(result.images === undefined ? {} : { images: result.images.map(toImagePart) }),
    },
    `tool:${call.name}`,
  );
}

function toImagePart({ path, mimeType, filename }: ToolImage): ImagePart {
  return { type: "image", mime_type: mimeType, path, filename };
}

function errorCodeOf(result: ToolResult): string {
  return result.text === interruptedByRestart ? "INTERRUPTED_BY_RESTART" : "TOOL_ERROR";
}
