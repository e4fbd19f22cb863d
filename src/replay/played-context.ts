import type { ContextSources, SkillSelection } from "../agent/ports.js";
import type { Payload } from "../events/catalogue.js";
import { textOf } from "../events/content.js";
import type { StoredEvent } from "../events/event.js";
import type { RecordedTurn } from "./recorded-turn.js";

/** What shaped a recorded turn besides its session: clock and skills, as far as they are in its messages. */
export interface PlayedContext {
  readonly sources: Omit<ContextSources, "compaction">;
  readonly clock: (at: Date) => string;
}

const noSkills: SkillSelection = { matched: [], missing: [], selector: "none", listing: [] };

/** The system prompt and the list of skills are not in the log: the model that answers does not read them. */
export function playContext(turn: RecordedTurn): PlayedContext {
  const texts = textsOf(turn.events);
  const clocks = texts.map((text) => /^<now>([^<]*)<\/now>/.exec(text)?.[1] ?? "");
  const selections = new Map<string, SkillSelection[]>();
  const seen = [...textsOf(turn.before), ...texts];
  for (const [content, matched] of selectionsOf(turn))
    selections.set(content, [...(selections.get(content) ?? []), toSelection(matched, seen)]);
  return {
    clock: () => clocks.shift() ?? "",
    sources: {
      files: async () => ({}),
      skills: async (text) => selections.get(text)?.shift() ?? noSkills,
      readSkill: async () => undefined,
    },
  };
}

/** Each message of the turn that matched skills, by its text. */
function selectionsOf({ events, message, additions }: RecordedTurn): [string, Payload<"skill_matched">][] {
  const contents = new Map([message, ...[...additions.values()].flat()].map(({ id, content }) => [id, content]));
  const found: [string, Payload<"skill_matched">][] = [];
  let matched: Payload<"skill_matched"> | undefined;
  for (const event of events) {
    if (event.type === "skill_matched") matched = event.payload;
    if (event.type !== "user_message") continue;
    if (matched !== undefined) found.push([contents.get(event.payload.message_id) ?? "", matched]);
    matched = undefined;
  }
  return found;
}

function toSelection(
  { skills, missing, selector }: Payload<"skill_matched">,
  texts: readonly string[],
): SkillSelection {
  const matched = skills.map(({ name, source, chars, truncated }) => ({
    name,
    source,
    truncated,
    text: skillText(name, chars, texts),
  }));
  return { matched, missing, selector, listing: [] };
}

/** A skill's text as it is in the newest message that has it. */
function skillText(name: string, chars: number, texts: readonly string[]): string {
  const mark = `<skill name="${name}">\n`;
  for (const text of texts.toReversed()) {
    const start = text.indexOf(mark);
    if (start !== -1) return text.slice(start + mark.length, start + mark.length + chars);
  }
  return "";
}

function textsOf(events: readonly StoredEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === "user_message" ? [textOf(event.payload.content)] : []));
}
