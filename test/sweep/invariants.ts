import { isDeepStrictEqual } from "node:util";
import type { StoredEvent } from "../../src/events/event.js";
import { assertSound } from "../support/worlds/gateway.js";
import { acceptedIn, type ChatEvidence, type Evidence, endsOf, lifeOf, repliesIn } from "./evidence.js";
import { markerOf } from "./script.js";

/** One promise: says what breaks it, in no words if nothing does. */
type Invariant = (chat: ChatEvidence, evidence: Evidence) => readonly string[];

/** What must hold for the messages of a chat once everything is quiet, whatever happened before. */
const aboutMessages: Readonly<Record<string, Invariant>> = {
  "every message is accepted once and in order": acceptedOnce,
  "every message has one end": oneEnd,
  "every reply is shown, in order, and twice only where that is marked": shownOnce,
  "messages enter the conversation once and in order": inOrder,
  "the log is sound": sound,
};

/** And for the turns, in a world that keeps account of the model and the tools. */
const aboutTurns: Readonly<Record<string, Invariant>> = {
  "one turn at a time": oneAtATime,
  "a finished answer is not asked for again": notAskedAgain,
  "a tool that writes runs at most once, others until they are done": toolRuns,
  "an interrupted call is told to the model as such": interruptedTold,
};

/** Everything that is broken, as sentences; empty when all promises hold. */
export function findBroken(evidence: Evidence): readonly string[] {
  return brokenOf({ ...aboutMessages, ...aboutTurns }, evidence);
}

/** The same for a world in which only people and platforms keep account. */
export function findBrokenMessages(evidence: Evidence): readonly string[] {
  return brokenOf(aboutMessages, evidence);
}

export function brokenOf(invariants: Readonly<Record<string, Invariant>>, evidence: Evidence): readonly string[] {
  return evidence.chats.flatMap((chat) =>
    Object.entries(invariants).flatMap(([name, check]) =>
      check(chat, evidence).map((what) => `${chat.look.key}: ${name}: ${what}`),
    ),
  );
}

function acceptedOnce({ look, said }: ChatEvidence): readonly string[] {
  const accepted = acceptedIn(look.events).flatMap(({ text, isResult }) => (isResult ? [] : [text]));
  return isDeepStrictEqual(accepted, said) ? [] : [`${JSON.stringify(said)} became ${JSON.stringify(accepted)}`];
}

function oneEnd({ look }: ChatEvidence, { ledger }: Evidence): readonly string[] {
  const ends = endsOf(look.events);
  const broken = acceptedIn(look.events).flatMap(({ id, text }) => {
    const mine = ends.filter(({ payload }) => payload.message_ids.includes(id));
    const [end] = mine;
    if (mine.length !== 1 || end === undefined) return [`"${text}" has ${mine.length} ends`];
    const isPoison = text.startsWith("poison");
    const wanted = isPoison ? "turn_execution_failed" : "turn_execution_complete";
    if (end.type !== wanted) return [`"${text}" ended with ${end.type}`];
    const inLedger = ledger.get(id);
    return inLedger === (isPoison ? "failed" : "answered") ? [] : [`"${text}" is ${inLedger} in the ledger`];
  });
  for (const id of [...look.inbound, ...look.outbound]) broken.push(`${id} still waits`);
  return broken;
}

/** A platform that tells repeats shows each once; any other may show again what was under way at a kill. */
function shownOnce({ look, platform, shown, said }: ChatEvidence): readonly string[] {
  if (platform === "client") return shownToClient(look.events, shown, said);
  const replies = repliesIn(look.events);
  const broken: string[] = [];
  let at = 0;
  for (const { id, content, story } of replies) {
    const sent = story.filter(({ status }) => status === "sent");
    if (sent.length !== 1) broken.push(`reply ${id} was told as sent ${sent.length} times`);
    let times = 0;
    while (shown[at] === content.trim() && times < story.length) {
      at += 1;
      times += 1;
      if (replies.some((other) => other.id !== id && other.content.trim() === content.trim())) break;
    }
    if (times === 0) broken.push(`reply ${id} (${content}) was not shown in its place`);
    if (times > 1 && (platform === "ids" || sent[0]?.mayRepeat !== true))
      broken.push(`reply ${id} (${content}) was shown ${times} times`);
    if (times > story.filter(({ status }) => status === "sending").length)
      broken.push(`reply ${id} (${content}) was shown more often than sent`);
  }
  if (at < shown.length) broken.push(`"${shown[at]}" was shown and belongs nowhere`);
  return broken;
}

function shownToClient(
  events: readonly StoredEvent[],
  shown: readonly string[],
  said: readonly string[],
): readonly string[] {
  if (shown.length !== said.length) return [`${said.length} messages had ${shown.length} answers`];
  return said.flatMap((text, index) => {
    const marker = markerOf(text);
    const answer = shown[index] ?? "";
    const times = events.filter((event) => event.type === "assistant_message" && textIn(event) === answer).length;
    return answer.includes(marker) && times === 1
      ? []
      : [`"${text}" was answered with "${answer}", ${times} in the log`];
  });
}

function textIn(event: Extract<StoredEvent, { readonly type: "assistant_message" }>): string {
  return event.payload.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function inOrder({ look }: ChatEvidence): readonly string[] {
  const accepted = acceptedIn(look.events).map(({ id }) => id);
  const entered = look.events.flatMap((event) => (event.type === "user_message" ? [event.payload.message_id] : []));
  const ended = endsOf(look.events).flatMap(({ payload }) => payload.message_ids);
  const broken: string[] = [];
  if (!isDeepStrictEqual(entered, accepted)) broken.push(`${accepted} entered as ${entered}`);
  if (!isDeepStrictEqual(ended, accepted)) broken.push(`${accepted} ended as ${ended}`);
  return broken;
}

function sound({ look }: ChatEvidence): readonly string[] {
  if (look.events.length !== look.lastSequence) return [`${look.events.length} events, last is ${look.lastSequence}`];
  try {
    assertSound(look.events);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

export function oneAtATime({ name }: ChatEvidence, { asked }: Evidence): readonly string[] {
  return asked
    .filter(({ chat, overlaps }) => chat === name && overlaps)
    .map(({ answer, life }) => `answer ${answer} was asked for in life ${life} while another was under way`);
}

function notAskedAgain(chat: ChatEvidence, evidence: Evidence): readonly string[] {
  const asked = evidence.asked.filter((one) => one.chat === chat.name);
  const storedIn = answersOf(chat.look.events).map((event) => lifeOf(event, evidence));
  const broken = asked.flatMap(({ answer, life }) => {
    const stored = storedIn[answer - 1];
    return stored !== undefined && life > stored
      ? [`answer ${answer} was stored in life ${stored} and asked for in life ${life}`]
      : [];
  });
  const turns = new Map<string | undefined, number>();
  for (const event of answersOf(chat.look.events)) {
    const before = turns.get(event.turn_id) ?? 0;
    turns.set(event.turn_id, event.payload.iteration);
    if (event.payload.iteration !== before + 1)
      broken.push(`${event.turn_id} has answer ${event.payload.iteration} behind answer ${before}`);
  }
  for (const again of repeatsIn(asked, ({ answer, life }) => `answer ${answer} in life ${life}`))
    broken.push(`${again} was asked for twice`);
  for (const [index, life] of storedIn.entries())
    if (!asked.some((one) => one.answer === index + 1 && one.life === life))
      broken.push(`answer ${index + 1} was stored in life ${life}, in which nobody asked for it`);
  return broken;
}

function toolRuns(chat: ChatEvidence, evidence: Evidence): readonly string[] {
  return callsOf(chat.look.events).flatMap(({ id, effect }) => {
    const runs = evidence.runs.filter(({ callId }) => callId === id);
    const begun = runs.filter(({ phase }) => phase === "begun");
    const completions = chat.look.events.filter(
      (event) => event.type === "tool_execution_complete" && event.payload.tool_call_id === id,
    );
    const [completion] = completions;
    if (completions.length !== 1 || completion?.type !== "tool_execution_complete")
      return [`${id} has ${completions.length} results`];
    const broken = repeatsIn(begun, ({ life }) => `${id} in life ${life}`).map((what) => `${what} ran twice`);
    const life = lifeOf(completion, evidence);
    const isDone = runs.some((run) => run.phase === "done" && run.life === life);
    const isInterrupted = completion.payload.error_code === "INTERRUPTED_BY_RESTART";
    if (effect === "write" && begun.length > 1) broken.push(`${id} writes and ran ${begun.length} times`);
    if (effect === "die") return broken;
    if (effect !== "write" && isInterrupted) broken.push(`${id} (${effect}) was not run again`);
    if (!isInterrupted && (completion.payload.is_error || !isDone)) broken.push(`${id} has a result without a run`);
    if (isInterrupted && begun.some((run) => run.life === life)) broken.push(`${id} ran and was told as interrupted`);
    return broken;
  });
}

function interruptedTold(chat: ChatEvidence, evidence: Evidence): readonly string[] {
  return chat.look.events.flatMap((event) => {
    if (event.type !== "tool_execution_complete" || event.payload.tool_name === "die") return [];
    const { tool_call_id: id, error_code: code, output } = event.payload;
    const told = evidence.asked.filter((one) => one.chat === chat.name).flatMap(({ results }) => results.get(id) ?? []);
    if (told.length === 0) return [`the model was never told about ${id}`];
    const start = chat.look.events.find(
      (one) => one.type === "tool_execution_start" && one.payload.tool_call_id === id,
    );
    const isInterrupted = code === "INTERRUPTED_BY_RESTART";
    if (isInterrupted && start?.metadata.instance_id === event.metadata.instance_id)
      return [`${id} was told as interrupted by the life that started it`];
    return told.every((text) => text === output) && isInterrupted === output.startsWith("interrupted:")
      ? []
      : [`${id} was told as ${JSON.stringify(told)}`];
  });
}

/** The model's answers that are in the log, in order. */
export function answersOf(
  events: readonly StoredEvent[],
): readonly Extract<StoredEvent, { readonly type: "assistant_message" }>[] {
  return events.flatMap((event) => (event.type === "assistant_message" && event.source !== "gateway" ? [event] : []));
}

export function callsOf(events: readonly StoredEvent[]): readonly { readonly id: string; readonly effect: string }[] {
  const effects: Readonly<Record<string, string>> = {
    count_read: "read",
    count_again: "idempotent",
    count_write: "write",
    die: "die",
  };
  return events.flatMap((event) =>
    event.type === "assistant_message"
      ? event.payload.content.flatMap((part) =>
          part.type === "tool_use" ? [{ id: part.id, effect: effects[part.name] ?? part.name }] : [],
        )
      : [],
  );
}

/** What is there more than once, by name. */
export function repeatsIn<T>(things: readonly T[], nameOf: (thing: T) => string): readonly string[] {
  const names = things.map(nameOf);
  return names.filter((name, index) => names.indexOf(name) !== index);
}
