/** A skill as lists show it. */
export interface SkillSummary {
  /** The file's name, or its folder's for a SKILL.md. */
  readonly name: string;
  readonly description: string;
  readonly source: "workspace" | "bundled" | "user";
  readonly path: string;
  readonly enabled: boolean;
}

/** Markdown that tells the model how to do something. */
export interface Skill extends SkillSummary {
  /** The name, and the front matter's where it differs. */
  readonly aliases: readonly string[];
  readonly allowedTools: readonly string[];
  /** Programs that it runs: of each list one has to be there. */
  readonly programs: readonly (readonly string[])[];
  /** At most {@link maxSkillCharacters}. */
  readonly body: string;
  readonly truncated: boolean;
  /** What is wrong with the file, as one sentence. The skill works nevertheless. */
  readonly problem?: string;
}

export const maxSkillCharacters = 12_000;

/** How names are compared: without case, and however the file system composes letters. */
export function foldName(name: string): string {
  return name.normalize("NFC").trim().toLowerCase();
}
