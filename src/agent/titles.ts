import type { Engine } from "../engine/engine.js";
import { messageOf } from "../errors.js";
import { draft } from "../events/event.js";
import { channelOf, clientChannels } from "../events/session-key.js";
import type { EventConsumer } from "../events/system-bus.js";
import type { Logger } from "../log.js";
import type { ChosenModel } from "../providers/provider.js";
import type { ResidentSession } from "../sessions/session-store.js";
import { cutText } from "../util/cut-text.js";
import { linked } from "../util/linked.js";
import { askModel, canWrite } from "./ask-model.js";

export interface TitlePorts {
  readonly bus: EventConsumer;
  readonly engine: Pick<Engine, "append">;
  readonly sessions: { open(key: string): Promise<ResidentSession> };
  chooseModel(label: string | undefined, signal: AbortSignal): Promise<ChosenModel>;
  /** False: the first words are the title everywhere. */
  readonly byModel: boolean;
  readonly log: Logger;
}

const maxTitle = 60;
const readLength = 2000;
const limitMs = 30_000;
const system =
  "Name this conversation in at most six words, in its own language. Answer with the name only: no quotes, no full stop.";

/**
 * Gives each conversation a title after its first answer: by the model where people see a list of their chats, else
 * from the first words. A title that a person gave stays.
 */
export function startTitles(ports: TitlePorts): AsyncDisposable {
  const stopping = new AbortController();
  const underWay = new Map<string, Promise<void>>();

  const unsubscribe = ports.bus.on("turn_execution_complete", (event) => {
    const key = event.session_key;
    if (underWay.has(key)) return;
    const work = giveTitle(ports, key, stopping.signal)
      .catch((error: unknown) => ports.log.warn(`${key} got no title: ${messageOf(error)}`, { session: key }))
      .finally(() => underWay.delete(key));
    underWay.set(key, work);
  });

  return {
    async [Symbol.asyncDispose]() {
      unsubscribe();
      stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
      await Promise.all(underWay.values());
    },
  };
}

async function giveTitle(ports: TitlePorts, key: string, signal: AbortSignal): Promise<void> {
  const session = await ports.sessions.open(key);
  const { title, summary } = session.document;
  // A command is no subject of a conversation.
  if (title !== undefined || summary === undefined || summary.startsWith("/")) return;
  const byModel =
    ports.byModel && clientChannels.has(channelOf(key)) ? await titleByModel(ports, session, signal) : undefined;
  const given = byModel ?? fallbackTitle(summary);
  if (given === "" || session.document.title !== undefined || signal.aborted) return;
  await ports.engine.append(
    key,
    [
      draft(
        "session_title_generated",
        { title: given, generated_by: byModel === undefined ? "fallback" : "model" },
        { source: "agent" },
      ),
    ],
    { durable: false },
  );
}

async function titleByModel(
  ports: TitlePorts,
  session: ResidentSession,
  parent: AbortSignal,
): Promise<string | undefined> {
  using scope = linked(parent, limitMs);
  try {
    const chosen = await ports.chooseModel(session.model, scope.signal);
    if (!canWrite(chosen)) return undefined;
    const text = session.document
      .toDocument()
      .messages.slice(0, 2)
      .map(({ role, content }) => `${role}: ${cutText(content, readLength)}`)
      .join("\n\n");
    const answer = await askModel(chosen, { system, text, maxTokens: 500 }, scope.signal);
    return tidyTitle(answer.text);
  } catch (error) {
    if (!parent.aborted)
      ports.log.info(`The model gave no title, the first words serve: ${messageOf(error)}`, { session: session.key });
    return undefined;
  }
}

/** Undefined when the model said nothing that could be a title. */
export function tidyTitle(said: string): string | undefined {
  const line = said.split("\n").find((text) => text.trim() !== "") ?? "";
  const title = line
    .replace(/^\s*(?:#+|title:|标题[:：])\s*/i, "")
    .replace(/^["'“”‘’«「『*_\s]+|["'“”‘’»」』*_.。\s]+$/g, "");
  return title === "" ? undefined : shorten(title);
}

export function fallbackTitle(firstText: string): string {
  return shorten(firstText.replace(/\s+/g, " ").trim());
}

/** Cut after a word where there is one. */
function shorten(text: string): string {
  if (text.length <= maxTitle) return text;
  const cut = cutText(text, maxTitle - 1);
  const space = cut.lastIndexOf(" ");
  return `${space > maxTitle / 2 ? cut.slice(0, space) : cut}…`;
}
