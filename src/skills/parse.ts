import { messageOf } from "../errors.js";
import { cutText } from "../util/text/cut-text.js";
import { maxSkillCharacters } from "./skill.js";

export interface ParsedSkill {
  /** The front matter's name. */
  readonly title?: string;
  readonly description: string;
  /** The front matter's `allowed-tools`: what the skill's author had in mind. It allows and forbids nothing. */
  readonly allowedTools: readonly string[];
  /** Programs that it runs, by `metadata.*.requires`: of each list one has to be there. */
  readonly programs: readonly (readonly string[])[];
  readonly body: string;
  readonly truncated: boolean;
  readonly problem?: string;
}

const maxDescription = 300;

/** Splits a skill file. With broken front matter the whole file is the body. Never runs what is in the file. */
export async function parseSkill(content: string): Promise<ParsedSkill> {
  const text = content.replace(/^\uFEFF/, "").replace(/\r\n/g, "\n");
  try {
    const { data, body } = await splitFrontMatter(text);
    return {
      ...toParsed(body, textOf(data, "name"), textOf(data, "description")),
      allowedTools: toolsOf(data),
      programs: programsOf(data),
    };
  } catch (error) {
    // The lines behind the first one show the text.
    const reason = (messageOf(error).split("\n")[0] ?? "").replace(/:$/, "");
    return {
      ...toParsed(text, plainField(text, "name"), plainField(text, "description")),
      problem: `its front matter cannot be read: ${reason}`,
    };
  }
}

async function splitFrontMatter(text: string): Promise<{ readonly data: unknown; readonly body: string }> {
  // Without an end it is a line across the page, which gray-matter would take for the start of front matter.
  if (!/^---[^-\n]*\n(?:[\s\S]*\n)?---[ \t]*(?:\n|$)/.test(text)) return { data: {}, body: text };
  const { default: matter } = await import("gray-matter");
  const file = matter(text, { engines: { javascript: refuseCode, js: refuseCode } });
  if (Object.getPrototypeOf(file.data) !== Object.prototype) throw new Error("it is not a list of fields");
  return { data: file.data, body: file.content };
}

/** Instead of gray-matter's own engine for `---js`, which evaluates the text. */
function refuseCode(): never {
  throw new Error("front matter must be YAML; code is never run");
}

function toParsed(body: string, title: string | undefined, description: string | undefined): ParsedSkill {
  const whole = body.trim();
  return {
    ...(title === undefined ? {} : { title }),
    description: oneLine(description ?? firstSentence(whole)),
    allowedTools: [],
    programs: [],
    body: cutText(whole, maxSkillCharacters),
    truncated: whole.length > maxSkillCharacters,
  };
}

function textOf(data: unknown, key: "name" | "description"): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const value: unknown = Object.entries(data).find(([name]) => name === key)?.[1];
  return typeof value === "string" || typeof value === "number" ? String(value).trim() || undefined : undefined;
}

/** A list, or names with commas or spaces between them: `Read, Bash(git:*)`. */
function toolsOf(data: unknown): readonly string[] {
  const value: unknown = typeof data === "object" && data !== null ? Reflect.get(data, "allowed-tools") : undefined;
  const entries = Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
  const names = typeof value === "string" ? (value.match(/[^\s,(]+(?:\([^)]{0,200}\))?/g) ?? []) : entries;
  return names.map((name) => name.trim()).filter((name) => name !== "");
}

/** As several programs write it: `metadata: {"openclaw": {"requires": {"bins": ["gh"]}}}`, `anyBins` where one is enough. */
function programsOf(data: unknown): readonly (readonly string[])[] {
  const metadata = objectOf(Reflect.get(Object(data), "metadata"));
  return [metadata, ...Object.values(metadata).map(objectOf)].flatMap((section) => {
    const { bins, anyBins } = objectOf(Reflect.get(section, "requires"));
    const any = namesOf(anyBins);
    return [...namesOf(bins).map((name) => [name]), ...(any.length === 0 ? [] : [any])];
  });
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** Plain names only: nothing that is looked up elsewhere than where programs are. */
function namesOf(value: unknown): readonly string[] {
  const names = Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  return names.filter((name) => /^[\w.+-]{1,100}$/.test(name)).slice(0, 50);
}

/** `description: Use when: …` is not YAML but common; the line is understood all the same. */
function plainField(text: string, key: "name" | "description"): string | undefined {
  const [, block] = /^---[ \t]*\n([\s\S]*?)\n---/.exec(text) ?? [];
  const [, value] = new RegExp(`^${key}:[ \\t]*(.+)$`, "m").exec(block ?? "") ?? [];
  return value?.trim().replace(/^(["'])(.*)\1$/, "$2") || undefined;
}

function firstSentence(body: string): string {
  return body.split("\n").find((line) => line.trim() !== "" && !/^(?:#|---)/.test(line)) ?? "";
}

function oneLine(text: string): string {
  return cutText(text.replace(/\s+/g, " ").trim(), maxDescription);
}
