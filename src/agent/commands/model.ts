import { messageOf } from "../../errors.js";
import { draft, type EventDraft } from "../../events/event.js";
import type { CommandOutcome, CommandScope } from "./scope.js";

/**
 * `/model`: which model answers here, and which others there are. `/model <name> thinking=<how much>` changes either or
 * both for this session, `/model default` takes that back. What is set is an event of the session, so it lasts.
 */
export async function runModelCommand(argument: string, scope: CommandScope): Promise<CommandOutcome> {
  const words = argument.split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return { reply: await describeModels(scope), events: [] };
  const { ports, message } = scope;
  if (!ports.chat.isOwner(message.channel, message.senderId))
    return { reply: "Only an owner of this assistant may change its model.", events: [] };
  const levels = words.flatMap((word) => /^thinking[=:](.*)$/i.exec(word)?.[1] ?? []);
  const names = words.filter((word) => !/^thinking[=:]/i.test(word));
  if (names.length > 1 || levels.length > 1)
    return { reply: "Write it like this: /model <name> thinking=<off, low, medium, high or tokens>", events: [] };
  const changes: CommandOutcome[] = [];
  for (const change of [
    ...levels.map((level) => thinkingChange(level, scope)),
    ...(await Promise.all(names.map((name) => changeModel(name, scope)))),
  ]) {
    if ("problem" in change) return { reply: change.problem, events: [] };
    changes.push(change);
  }
  return {
    reply: changes.map(({ reply }) => reply).join(" "),
    events: changes.flatMap(({ events }) => events),
  };
}

type Outcome = CommandOutcome | { readonly problem: string };

async function changeModel(name: string, { ports, session, signal }: CommandScope): Promise<Outcome> {
  const isDefault = name.toLowerCase() === "default";
  const wanted = isDefault ? undefined : nearest(name, ports.models.labels());
  try {
    const model = await ports.models.choose(wanted, signal);
    ports.models.prefer(model);
    if (isDefault) {
      const events = [
        ...setting("model", session.wanted.label, ""),
        ...setting("thinking", session.wanted.thinking, ""),
      ];
      return { reply: `From the next message on the default answers here: ${model.label}.`, events };
    }
    return {
      reply: `From the next message on ${model.label} answers here.`,
      events: setting("model", session.wanted.label, model.label),
    };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function thinkingChange(level: string, { ports, session }: CommandScope): Outcome {
  if (level.toLowerCase() === "default")
    return { reply: "It thinks as much as the config says.", events: setting("thinking", session.wanted.thinking, "") };
  const thinking = ports.models.readThinking(level);
  if (thinking === undefined)
    return { problem: `thinking can be off, low, medium, high, default, or a number of tokens, not "${level}".` };
  const how = /^\d+$/.test(thinking) ? `up to ${thinking} tokens` : thinking;
  return { reply: `Thinking: ${how}.`, events: setting("thinking", session.wanted.thinking, thinking) };
}

function setting(key: string, from: string | undefined, to: string): readonly EventDraft[] {
  if ((from ?? "") === to) return [];
  return [draft("settings_changed", { scope: "session", key, from, to }, { source: "agent" })];
}

async function describeModels({ ports, session, signal }: CommandScope): Promise<string> {
  const { models } = ports;
  const line = async (title: string, label: string | undefined): Promise<string> => {
    try {
      return `${title}: ${(await models.choose(label, signal)).label}`;
    } catch (error) {
      return `${title}: none. ${messageOf(error)}`;
    }
  };
  const labels = models.labels();
  return [
    ...(session.wanted.label === undefined ? [] : [await line("This conversation", session.wanted.label)]),
    await line("Default", undefined),
    ...(session.wanted.thinking === undefined ? [] : [`Thinking: ${session.wanted.thinking}`]),
    ...(labels.length > 1 ? ["", "Known models:", ...labels.map((label) => `- ${label}`)] : []),
    "",
    "/model <name> changes it for this conversation, /model default changes it back.",
    "/model thinking=<off, low, medium, high or tokens> says how much it is to think.",
  ].join("\n");
}

/** A known model by a part of its name, if only one has it. */
function nearest(name: string, labels: readonly string[]): string {
  const wanted = name.toLowerCase();
  const exact = labels.find((label) => label.toLowerCase() === wanted);
  if (exact !== undefined) return exact;
  const having = labels.filter((label) => label.toLowerCase().includes(wanted));
  return having.length === 1 ? (having[0] ?? name) : name;
}
