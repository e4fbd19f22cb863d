import type { BackgroundBudget } from "../../budgets/budgets.js";
import type { Engine } from "../../engine/engine.js";
import { messageOf } from "../../errors.js";
import type { EventConsumer } from "../../events/bus/system-bus.js";
import { draft } from "../../events/event.js";
import type { ModelUse } from "../../events/model-use.js";
import { channelOf, clientChannels, depthOf } from "../../events/session-key.js";
import type { SessionLives } from "../../events/session-lives.js";
import type { Logger } from "../../log.js";
import type { ChosenModel } from "../../providers/provider.js";
import type { ResidentSession } from "../../sessions/resident-session.js";
import type { DocumentMessage } from "../../sessions/session.js";
import { linked } from "../../util/async/linked.js";
import { cutText } from "../../util/text/cut-text.js";
import { trimEndWhere } from "../../util/text/trim-where.js";
import { parseCommand } from "../commands/chat-command.js";
import { askModel, canWrite } from "./ask.js";

export interface TitlePorts {
  readonly bus: EventConsumer;
  readonly engine: Pick<Engine, "append">;
  readonly sessions: { open(key: string): Promise<ResidentSession> };
  readonly lives: Pick<SessionLives, "run">;
  chooseModel(label: string | undefined, signal: AbortSignal): Promise<ChosenModel>;
  /** What is asked without anybody's wish. */
  readonly budget: BackgroundBudget;
  readonly log: Logger;
}

const maxTitle = 60;
const readLength = 2000;
const limitMs = 30_000;
const system =
  "Name this conversation in at most six words, in its own language. Answer with the name only: no quotes, no full stop.";

/**
 * After its first answer a conversation is called by its first words; where people see a list of their chats the model
 * then gives it a better title. One that a person gave stays.
 */
export function startTitles(ports: TitlePorts): AsyncDisposable {
  const stopping = new AbortController();
  const underWay = new Map<string, Promise<void>>();
  /** A model that gives none is not asked again after each turn. */
  const asked = new Set<string>();

  const unsubscribe = ports.bus.on("turn_execution_complete", (event) => {
    const key = event.session_key;
    // What the gateway answers by itself, as /help, says nothing of what the conversation is about.
    if (event.payload.iterations === 0) return;
    if (!clientChannels.has(channelOf(key)) || depthOf(key) > 0 || asked.has(key)) return;
    asked.add(key);
    const work = ports.lives
      .run(key, (signal) => giveTitle(ports, key, signal), stopping.signal)
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
  if (session.document.hasOwnTitle) return;
  const title = await askForTitle(ports, session, signal);
  if (title === undefined || session.document.hasOwnTitle || signal.aborted) return;
  const event = draft("session_title_generated", { ...title, generated_by: "model" }, { source: "gateway" });
  await ports.engine.append(key, [event], { durable: false, counts: ports.budget.countsOf(title) });
}

async function askForTitle(
  ports: TitlePorts,
  session: ResidentSession,
  parent: AbortSignal,
): Promise<({ readonly title: string } & ModelUse) | undefined> {
  using scope = linked(parent, limitMs);
  try {
    const chosen = await ports.chooseModel(session.wanted.label, scope.signal);
    if (!canWrite(chosen) || !ports.budget.mayAsk()) return undefined;
    const { messages } = session.document.toDocument();
    const from = Math.max(0, messages.findIndex(isForModel));
    const text = messages
      .slice(from, from + 2)
      .map(({ role, content }) => `${role}: ${cutText(content, readLength)}`)
      .join("\n\n");
    const answer = await askModel(chosen, { system, text, maxTokens: 500 }, scope.signal);
    const title = tidyTitle(answer.text);
    return title === undefined ? undefined : { title, ...answer.use };
  } catch (error) {
    if (!parent.aborted)
      ports.log.info(`The model gave no title, so the first words are used: ${messageOf(error)}`, {
        session: session.key,
      });
    return undefined;
  }
}

function isForModel({ role, content }: DocumentMessage): boolean {
  const command = parseCommand(content);
  return role === "user" && (command === undefined || (command.name === "plan" && command.argument !== ""));
}

/** Undefined when the model said nothing that could be a title. */
export function tidyTitle(said: string): string | undefined {
  const line = said.split("\n").find((text) => text.trim() !== "") ?? "";
  const opened = line
    .trimStart()
    .replace(/^(?:#+|title:|标题[:：])\s*/i, "")
    .replace(/^["'“”‘’«「『*_\s]+/, "");
  const title = trimEndWhere(withoutMarks(opened), (unit) => /["'“”‘’»」』*_.。\s]/.test(unit));
  return title === "" ? undefined : shorten(title);
}

/** A title from what a person said first: its first line, cut between words. Undefined when it says nothing. */
export function fallbackTitle(text: string): string | undefined {
  const line = text
    .split("\n")
    .map((each) => withoutMarks(each).replace(/\s+/g, " ").trim())
    .find((each) => each !== "");
  return line === undefined ? undefined : shorten(line);
}

/** Titles are shown as they are: without the marks of Markdown for bold, code, headings and links. */
function withoutMarks(line: string): string {
  return line
    .replace(/^\s*#{1,6}\s+/, "")
    .replace(/!?\[([^\][]{1,200})\]\([^()\s]{1,2000}\)/g, "$1")
    .replace(/\*\*|__|~~|`+/g, "");
}

/** Cut between words where there are any: many languages write without spaces. */
function shorten(text: string): string {
  const characters = [...text];
  if (characters.length <= maxTitle) return text;
  const cut = characters.slice(0, maxTitle).join("");
  const space = cut.lastIndexOf(" ");
  return `${space > cut.length / 2 ? cut.slice(0, space) : cut} …`;
}
