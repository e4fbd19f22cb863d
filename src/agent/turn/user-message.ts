import type { InboundMessage } from "../../bus/messages.js";
import type { ContentPart } from "../../events/content.js";
import type { EventDraft } from "../../events/event.js";
import { isActive, type Plan } from "../../events/folds/plan.js";
import { fenceUntrusted } from "../../util/text/untrusted.js";
import { addressesOf, judgeQuote, roleOf } from "../calls/provenance.js";
import { skillsMatched } from "../calls/skill-events.js";
import { type JudgedQuote, userText } from "../model/context.js";
import { corrected } from "../model/sentences.js";
import { planForModel } from "../plan/text.js";
import type { SkillSelection } from "../ports.js";
import type { TurnScope } from "./scope.js";
import type { TurnLog } from "./turn-log.js";

/** The turn's own message, with the plan that goes on, and what a plan command has made of that. */
export async function firstMessage(
  scope: TurnScope,
  log: TurnLog,
  message: InboundMessage,
  selection: SkillSelection,
  missingTools: readonly string[],
): Promise<EventDraft[]> {
  const { opening, session } = scope;
  const updates = (opening?.updates ?? []).map((payload) => log.draft("plan_updated", payload));
  const current = opening?.updates.at(-1)?.plan ?? session.plan.current?.plan;
  const plan = current !== undefined && isActive(current) ? current : undefined;
  const isOld = opening === undefined || session.plan.current?.plan.goal === current?.goal;
  const planOutside = isOld ? session.plan.current?.outside : undefined;
  const asRead = opening === undefined ? message : { ...message, content: opening.text };
  return [...updates, ...(await userMessage(scope, log, asRead, selection, 1, { plan, planOutside, missingTools }))];
}

/** What messages that join a turn look like to the model. */
export async function addedMessages(
  scope: TurnScope,
  log: TurnLog,
  added: readonly InboundMessage[],
  selection: SkillSelection,
  iteration: number,
): Promise<EventDraft[]> {
  const drafts: EventDraft[] = [];
  for (const message of added) {
    const names =
      message.selectedSkills !== undefined || message.content.includes("$") || message.content.includes("@skill:");
    const own = names
      ? await scope.ports.context.skills(message.content, message.selectedSkills)
      : { ...selection, matched: [], missing: [] };
    drafts.push(...(await userMessage(scope, log, message, own, iteration)));
  }
  return drafts;
}

/** What is with a turn's own message. */
interface Aside {
  readonly plan?: Plan | undefined;
  /** Where what others wrote came from while the plan was made. */
  readonly planOutside?: string | undefined;
  readonly missingTools?: readonly string[];
}

/** A message as the model reads it and as the log keeps it, with where what is in it came from. */
async function userMessage(
  scope: TurnScope,
  log: TurnLog,
  message: InboundMessage,
  selection: SkillSelection,
  iteration: number,
  aside: Aside = {},
): Promise<EventDraft[]> {
  const { ports, options, session } = scope;
  // A skill's text that the model still sees in this conversation is not sent again.
  const fresh = selection.matched.filter((skill) => !session.history.mentions(skill.text));
  const said = message.change === "edited" ? `${corrected}\n${message.content}` : message.content;
  const quoted = await judgeQuote(message, session, ports.sessions);
  const text = userText({
    text: message.outside === undefined ? said : fenceUntrusted(message.outside, said),
    now: options.clock(new Date(message.receivedAt)),
    skills: fresh,
    missingSkills: selection.missing,
    missingTools: aside.missingTools ?? [],
    files: message.attachments,
    cwd: session.document.cwd,
    plan: aside.plan === undefined ? undefined : planForModel(aside.plan),
    senderName: ports.chat.isGroup(message) ? (message.senderName ?? message.senderId) : undefined,
    quoted,
    note: message.note,
  });
  const drafts: EventDraft[] = [];
  if (selection.matched.length > 0 || selection.missing.length > 0)
    drafts.push(skillsMatched(log, selection.matched, selection.missing, selection.selector));
  const content: ContentPart[] = [{ type: "text", text }, ...imagesOf(message)];
  const outside = outsideOf(message, quoted, aside);
  const addresses = addressesOf(message);
  drafts.push(
    log.draft("user_message", {
      message_id: message.id,
      content,
      iteration,
      ...(outside === undefined ? {} : { outside }),
      by: roleOf(message, ports.chat),
      ...(addresses.length === 0 ? {} : { addresses: [...addresses] }),
      ...(message.attachments.length === 0 ? {} : { files: message.attachments.length }),
    }),
  );
  return drafts;
}

/** In a group all that others write counts as theirs anyway. */
function outsideOf(message: InboundMessage, quoted: JudgedQuote | undefined, aside: Aside): string | undefined {
  const sources = [
    message.outside,
    quoted?.isForeign === true ? "a quoted message" : undefined,
    ...(message.mixed ?? []),
    aside.plan === undefined ? undefined : aside.planOutside,
  ];
  return [...new Set(sources.filter((source) => source !== undefined))].join(", ") || undefined;
}

/** Stored for every model; one that cannot see them gets a line of text in their place. */
function imagesOf({ attachments }: InboundMessage): readonly ContentPart[] {
  return attachments
    .filter(({ mimeType }) => mimeType.toLowerCase().startsWith("image/"))
    .map(({ path, filename, mimeType }) => ({ type: "image", mime_type: mimeType, path, filename }));
}
