import { z } from "zod";
import { missingToolsMark } from "../agent/model/context.js";
import type { Toolbox } from "../agent/ports.js";
import { textOf } from "../events/content.js";
import type { StoredEvent } from "../events/event.js";
import type { PlanRequest, Tool, ToolContext, ToolResult } from "../tools/tool.js";
import { sleep } from "../util/async/sleep.js";
import type { RecordedTurn } from "./recorded-turn.js";

/** How far the model has come, by its calls. */
export interface Playhead {
  iteration: number;
}

/** Checked when the call was made. */
const planInput = z.custom<PlanRequest>((value) => typeof value === "object" && value !== null);
const sentInput = z.object({ text: z.string(), channel: z.string().optional(), chat: z.string().optional() });

function sentBy(
  { text, channel, chat }: z.infer<typeof sentInput>,
  context: ToolContext,
): Parameters<ToolContext["chat"]["send"]>[0] {
  const to = { channel: channel ?? context.chat.channel, chatId: chat ?? context.chat.chatId };
  const isOwn = to.channel === context.chat.channel && to.chatId === context.chat.chatId;
  return { content: text, attachments: [], to: isOwn ? undefined : to };
}

/** The tools of a recorded turn, which give the recorded results again and do nothing. */
export function playTools({ events }: RecordedTurn, playhead: Playhead): Toolbox {
  const results = new Map<string, Recorded[]>();
  let before: Recorded | undefined;
  for (const event of events) {
    if (event.type !== "tool_execution_complete") continue;
    const { tool_call_id, output, is_error, summary, outside, images } = event.payload;
    const shown = images?.map(({ path, mime_type, filename = "" }) => ({ path, mimeType: mime_type, filename }));
    const result = { text: output, isError: is_error, summary, outside, images: shown };
    before = { result, before, ended: new AbortController() };
    results.set(tool_call_id, [...(results.get(tool_call_id) ?? []), before]);
  }
  const sideBySide = iterationsSideBySide(events);
  return {
    declarations: () => [],
    settle: async () => missingTools(events),
    // Calls of one answer run side by side when all of them only read.
    find: (name) => stub(name, sideBySide.has(playhead.iteration) ? "read" : "write", originOf(events, name)),
    async run(name, input, context) {
      const recorded = results.get(context.call.toolCallId)?.shift();
      if (recorded === undefined) throw new Error(`The record has no result of ${name} (${context.call.toolCallId})`);
      const { result } = recorded;
      if (sideBySide.has(playhead.iteration)) await itsTurn(recorded);
      // What it sent is worked out from the input alone.
      if (name === "message" && !result.isError) await context.chat.send(sentBy(sentInput.parse(input), context));
      // Its change is worked out from the plan and the input alone.
      if (name === "plan" && !result.isError) context.agent.changePlan(planInput.parse(input));
      return result;
    },
  };
}

/** A result, and the one that ended before it. */
interface Recorded {
  readonly result: ToolResult;
  readonly before: Recorded | undefined;
  readonly ended: AbortController;
}

/** A call that was refused before it ran gives no result here: the ones after it wait no longer than this. */
const turnMs = 200;

/** Calls side by side were recorded in the order in which they ended: they end in that order again. */
async function itsTurn({ before, ended }: Recorded): Promise<void> {
  if (before !== undefined && !before.ended.signal.aborted)
    await sleep(turnMs, before.ended.signal).catch(() => undefined);
  // The one before has been handed on by then.
  setImmediate(() => ended.abort());
}

/** Whose tools were not there yet, as the turn's first message tells. */
function missingTools(events: readonly StoredEvent[]): readonly string[] {
  const first = events.find((event) => event.type === "user_message");
  const text = first?.type === "user_message" ? textOf(first.payload.content) : "";
  const [, after = ""] = text.split(missingToolsMark, 2);
  return after === "" ? [] : [after.slice(0, after.indexOf("</missing_tools>"))];
}

/** The iterations in which a second call began before the first one was over. */
function iterationsSideBySide(events: readonly StoredEvent[]): ReadonlySet<number> {
  const found = new Set<number>();
  let running = 0;
  for (const event of events) {
    if (event.type === "tool_execution_start") {
      running += 1;
      if (running > 1) found.add(event.payload.iteration);
    }
    if (event.type === "tool_execution_complete") running -= 1;
  }
  return found;
}

function originOf(events: readonly StoredEvent[], name: string): Tool["origin"] {
  const start = events.find((event) => event.type === "tool_execution_start" && event.payload.tool_name === name);
  return start?.type === "tool_execution_start" ? start.payload.origin : "builtin";
}

function stub(name: string, effect: Tool["effect"], origin: Tool["origin"]): Tool {
  return {
    name,
    description: "",
    input: z.unknown(),
    effect,
    risk: "none",
    origin,
    run: () => Promise.reject(new Error(`${name} is only played`)),
  };
}
