import type { Payload } from "../../../../src/events/catalogue.js";
import type { StoredEvent } from "../../../../src/events/event.js";
import { newId } from "../../../../src/util/ids.js";
import { lastResult, resultsIn } from "../channels/chat-world.js";
import type { TestGateway } from "../gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../model-script.js";

type Answer = ScriptedAnswer | Promise<ScriptedAnswer>;

/** A model that plays everybody: who is meant shows in the newest message that is not a tool's. */
export function cast(roles: {
  /** A person's message. `done`: how many results of tools are behind it. */
  parent(request: RecordedRequest, done: number): Answer;
  child(request: RecordedRequest, done: number): Answer;
  /** A result that has come back to the parent. */
  told?(request: RecordedRequest, done: number): Answer;
}) {
  return (request: RecordedRequest): Answer => {
    const done = resultsIn(request);
    if (request.userText.includes("[You are a sub-agent.")) return roles.child(request, done);
    if (!request.userText.includes("[The sub-agent ")) return roles.parent(request, done);
    return roles.told?.(request, done) ?? { text: "I was told." };
  };
}

export function spawn(input: Record<string, unknown>) {
  return { id: newId("call"), name: "spawn", input };
}

export function changesIn(events: readonly StoredEvent[]): readonly Payload<"subagent_state_changed">[] {
  return events.flatMap((event) => (event.type === "subagent_state_changed" ? [event.payload] : []));
}

export function resultsOf(events: readonly StoredEvent[]): readonly StoredEvent[] {
  return events.filter((event) => event.type === "user_message_queued" && event.payload.result_of !== undefined);
}

/** None before its first message is accepted. */
export async function eventsOf(gateway: TestGateway, key: string): Promise<readonly StoredEvent[]> {
  return await gateway.events(key).catch(() => []);
}

export async function children(gateway: TestGateway): Promise<readonly string[]> {
  const { sessions } = await gateway.gateway.api.listSessions({ limit: 100, offset: 0 });
  return sessions.map(({ key }) => key).filter((key) => key.includes(":spawn:"));
}

export const done = (request: RecordedRequest): ScriptedAnswer => ({ text: `done: ${lastResult(request)}` });
export const startOne = (task: string, more: Record<string, unknown> = {}) => ({
  toolCalls: [spawn({ action: "start", task, ...more })],
});
