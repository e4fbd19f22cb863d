import type { InboundMessage } from "../../bus/messages.js";
import type { ToolTasks } from "../../tools/tool.js";
import { derivedId } from "../../util/ids.js";
import { cutText } from "../../util/text/cut-text.js";
import { fenceUntrusted } from "../../util/text/untrusted.js";
import { knownAddressesIn } from "../../util/web-addresses.js";
import type { TaskOutcome, TaskRecord } from "./record.js";

/** As long as a tool's result may be. */
const maxResult = 15_000;

/** What a sub-agent's session begins with. */
export function briefMessage(
  task: { readonly id: string; readonly childKey: string; readonly startedAt: number },
  wish: Parameters<ToolTasks["start"]>[0],
  by: {
    readonly message: InboundMessage;
    readonly outside: readonly string[];
    readonly knowsAddress: (url: string) => boolean;
  },
): InboundMessage {
  return {
    ...inTheNameOf(by.message),
    id: derivedId("msg", "task", task.id),
    sessionKey: task.childKey,
    content: briefOf(wish.task),
    attachments: [],
    selectedSkills: wish.skills,
    taskId: task.id,
    mixed: [...new Set(by.outside)],
    addresses: knownAddressesIn(wish.task, by.knowsAddress),
    receivedAt: task.startedAt,
  };
}

/** What brings the end of a task to its parent. `brief`: what it began with. */
export function reportMessage(
  task: TaskRecord,
  brief: InboundMessage,
  outcome: TaskOutcome,
  more: {
    readonly outside: readonly string[];
    readonly knowsAddress: (url: string) => boolean;
    readonly receivedAt: number;
  },
): InboundMessage {
  const outside = [...new Set(more.outside)];
  const content = reportOf(task, outcome, outside);
  return {
    ...inTheNameOf(brief),
    id: derivedId("msg", "result", task.id),
    sessionKey: task.parentKey,
    content,
    attachments: [],
    taskId: task.parentTaskId,
    resultOf: task.id,
    mixed: outside,
    addresses: knownAddressesIn(content, more.knowsAddress),
    receivedAt: more.receivedAt,
  };
}

/** Whose rights, platform and budgets count, and what they need not hear: as with what the parent was asked. */
function inTheNameOf({ channel, chatId, thread, senderId, senderName, internal, jobId, silence }: InboundMessage) {
  return { channel, chatId, thread, senderId, senderName, internal, jobId, silence };
}

/** What a sub-agent reads first. */
function briefOf(task: string): string {
  return `[You are a sub-agent. Work on this task by yourself. Your last message is the result: it goes back to who gave you the task, and nobody reads anything else of what you say.]\n\n${task}`;
}

/** What its parent reads in the end. What others had a hand in is marked as theirs. */
function reportOf({ id, label }: TaskRecord, outcome: TaskOutcome, outside: readonly string[]): string {
  if (outcome.state === "failed") return `[The sub-agent ${id} (${label}) failed: ${outcome.error}]`;
  const { text } = outcome;
  const shown =
    text.length <= maxResult
      ? text
      : `${cutText(text, maxResult)}\n\n[Cut here: ${text.length} characters in all. The status of ${id} gives the whole.]`;
  const body = outside.length === 0 ? shown : fenceUntrusted(`the sub-agent ${label}`, shown);
  return `[The sub-agent ${id} (${label}) has finished. People have not seen its result:]\n\n${body}`;
}
