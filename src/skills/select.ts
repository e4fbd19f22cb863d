import { cutText } from "../util/text/cut-text.js";
import { findByName } from "./find.js";
import { findReferences, type References } from "./references.js";
import type { Skill, SkillSummary } from "./skill.js";

/** What is used when a message names no skill: `auto` gives the bodies of people's own skills while they are short, else the list. */
export type DefaultSelector = "auto" | "all" | "none";

export interface SkillSelection {
  /** To be put into the user message, bodies within the limits; `truncated` where a body was cut. */
  readonly matched: readonly Skill[];
  /** Names that were asked for and do not exist. */
  readonly missing: readonly string[];
  /** What decided: the message (`explicit`, `all`, `none`) or the default (`auto`, `all`, `none`). */
  readonly selector: "explicit" | DefaultSelector;
  /** For the system prompt, to be read with read_skill; the same from message to message unless skills change. */
  readonly listing: readonly SkillSummary[];
  /** The message's text, unchanged. */
  readonly text: string;
}

const maxAutoCharacters = 8000;
const maxCharacters = 60_000;

/** Decides by the text, by the names that a client chose (`all` and `none` included) and by the default, in this order. */
export function selectSkills(
  text: string,
  selectedSkills: readonly string[] | undefined,
  available: readonly Skill[],
  defaultSelector: DefaultSelector,
): SkillSelection {
  const enabled = available.filter((skill) => skill.enabled);
  const wanted = join(findReferences(text, enabled), chosen(selectedSkills ?? [], enabled));
  // What comes with the program is only listed: its text would be in every conversation that does not need it.
  const own = enabled.filter((skill) => skill.source !== "bundled");
  const fits = sum(own) <= maxAutoCharacters;
  const listed = fits ? enabled.filter((skill) => skill.source === "bundled") : enabled;
  const listing = defaultSelector === "auto" ? listed.map(toSummary) : [];
  const base = { missing: wanted.missing, text };
  if (wanted.none) return { ...base, matched: [], selector: "none", listing };
  if (wanted.all) return { ...base, ...limited(enabled, listing), selector: "all" };
  if (wanted.skills.length > 0) return { ...base, ...limited(wanted.skills, listing), selector: "explicit" };
  switch (defaultSelector) {
    case "auto":
      return { ...base, matched: fits ? own : [], selector: "auto", listing };
    case "all":
      return { ...base, ...limited(enabled, listing), selector: "all" };
    case "none":
      return { ...base, matched: [], selector: "none", listing };
    default:
      return defaultSelector satisfies never;
  }
}

function chosen(names: readonly string[], available: readonly Skill[]): References {
  const plain = names.map((name) => name.trim().replace(/^(?:@skill:|\$)/i, "")).filter((name) => name !== "");
  const isWord = (name: string): boolean => /^(?:all|none)$/i.test(name);
  const found = plain.filter((name) => !isWord(name)).map((name) => ({ name, skill: findByName(available, name) }));
  return {
    skills: found.flatMap(({ skill }) => skill ?? []),
    missing: found.filter(({ skill }) => skill === undefined).map(({ name }) => name),
    all: plain.some((name) => name.toLowerCase() === "all"),
    none: plain.some((name) => name.toLowerCase() === "none"),
  };
}

function join(a: References, b: References): References {
  return {
    skills: [...new Set([...a.skills, ...b.skills])],
    missing: [...new Set([...a.missing, ...b.missing])],
    all: a.all || b.all,
    none: a.none || b.none,
  };
}

/** What finds no room any more is at least listed. */
function limited(
  skills: readonly Skill[],
  listing: readonly SkillSummary[],
): { readonly matched: readonly Skill[]; readonly listing: readonly SkillSummary[] } {
  let room = maxCharacters;
  const matched: Skill[] = [];
  const left: SkillSummary[] = [];
  for (const skill of skills) {
    if (room === 0) left.push(toSummary(skill));
    else
      matched.push(skill.body.length <= room ? skill : { ...skill, body: cutText(skill.body, room), truncated: true });
    room = Math.max(0, room - skill.body.length);
  }
  return { matched, listing: listing.length > 0 ? listing : left };
}

function sum(skills: readonly Skill[]): number {
  return skills.reduce((total, skill) => total + skill.body.length, 0);
}

function toSummary({ name, description, source, path, enabled }: Skill): SkillSummary {
  return { name, description, source, path, enabled };
}
