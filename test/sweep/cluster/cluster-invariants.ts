import type { StoredEvent } from "../../../src/events/event.js";
import { type ChatEvidence, type Evidence, lifeOf, repliesIn } from "../evidence.js";
import { answersOf, brokenOf, callsOf, findBrokenMessages, oneAtATime, repeatsIn } from "../invariants.js";

/** What must hold for turns that several processes have worked on, whatever happened to them. Says what does not. */
export function findBrokenInCluster(evidence: Evidence): readonly string[] {
  const aboutTurns = {
    "one live turn at a time": oneAtATime,
    "answers follow each other, each stored by a life that asked for it": answersFollow,
    "a tool that writes runs at most once, and each call has one result": toolRuns,
  };
  const inTime = { ...evidence, chats: evidence.chats.map(withoutLate) };
  return [...findBrokenMessages(inTime), ...brokenOf(aboutTurns, evidence)];
}

/**
 * Without the repeats that come behind newer replies. A node that stands still between its last look at its claim and the platform sends
 * when it is back: nothing but the platform could keep that away. Such a reply must be marked, and is shown no more often than sent.
 */
function withoutLate(chat: ChatEvidence): ChatEvidence {
  if (chat.platform !== "blind") return chat;
  const marked = new Map<string, number>();
  for (const { content, story } of repliesIn(chat.look.events))
    if (story.some(({ status, mayRepeat }) => status === "sent" && mayRepeat))
      marked.set(content.trim(), story.filter(({ status }) => status === "sending").length);
  const shown = chat.shown.filter((text, at) => {
    const times = chat.shown.slice(0, at + 1).filter((one) => one === text).length;
    return times === 1 || chat.shown[at - 1] === text || times > (marked.get(text) ?? 0);
  });
  return { ...chat, shown };
}

function answersFollow(chat: ChatEvidence, evidence: Evidence): readonly string[] {
  const asked = evidence.asked.filter((one) => one.chat === chat.name);
  const broken: string[] = [];
  const turns = new Map<string | undefined, number>();
  for (const [index, event] of answersOf(chat.look.events).entries()) {
    const before = turns.get(event.turn_id) ?? 0;
    turns.set(event.turn_id, event.payload.iteration);
    if (event.payload.iteration !== before + 1)
      broken.push(`${event.turn_id} has answer ${event.payload.iteration} behind answer ${before}`);
    const life = lifeOf(event, evidence);
    if (!asked.some((one) => one.answer === index + 1 && one.life === life))
      broken.push(`answer ${index + 1} was stored in life ${life}, in which nobody asked for it`);
  }
  return broken;
}

function toolRuns(chat: ChatEvidence, evidence: Evidence): readonly string[] {
  return callsOf(chat.look.events).flatMap(({ id, effect }) => {
    const runs = evidence.runs.filter(({ callId }) => callId === id);
    const completions = chat.look.events.filter((event) => isResultOf(event, id));
    const [completion] = completions;
    if (completions.length !== 1 || completion?.type !== "tool_execution_complete")
      return [`${id} has ${completions.length} results`];
    const broken: string[] = [];
    const begun = runs.filter(({ phase }) => phase === "begun").length;
    if (effect === "write" && begun > 1) broken.push(`${id} writes and ran ${begun} times`);
    const isInterrupted = completion.payload.error_code === "INTERRUPTED_BY_RESTART";
    if (isInterrupted && effect !== "write") broken.push(`${id} (${effect}) was not run again`);
    const life = lifeOf(completion, evidence);
    const isDone = runs.some((run) => run.phase === "done" && run.life === life);
    if (!isInterrupted && (completion.payload.is_error || !isDone)) broken.push(`${id} has a result without a run`);
    const told = evidence.asked.filter((one) => one.chat === chat.name).flatMap(({ results }) => results.get(id) ?? []);
    const others = told.filter((text) => text !== completion.payload.output);
    if (told.length === 0 || others.length > 0) broken.push(`${id} was told to the model as ${JSON.stringify(told)}`);
    return [...broken, ...repeatsIn(completions, ({ event_id }) => event_id)];
  });
}

function isResultOf(event: StoredEvent, id: string): boolean {
  return event.type === "tool_execution_complete" && event.payload.tool_call_id === id;
}
