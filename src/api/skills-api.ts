/** A skill that was put into the workspace. */
export interface InstalledSkill {
  readonly name: string;
  /** Its folder, or its file. */
  readonly path: string;
  /** What breaks a rule of the SKILL.md standard; it works nevertheless. */
  readonly warnings: readonly string[];
}

export interface SkillInstall {
  /** A folder, a zip, a .md file, or an address that git knows. */
  readonly source: string;
  /** Replace skills that are there under these names. Default: false. */
  readonly replace?: boolean | undefined;
  /** Only this one of several. */
  readonly only?: string | undefined;
  /** What its owner calls the file, where the path says something else. */
  readonly called?: string | undefined;
}

/** A skill's own file. */
export interface SkillText {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** Changes with the text. */
  readonly revision: string;
  /** What happens when it is written. `copy`: one in the workspace, which is used instead; `refused`: it is not of this workspace. */
  readonly writing: "in place" | "copy" | "refused";
}

export interface WrittenSkill {
  /** Where the text is now. */
  readonly path: string;
  readonly revision: string;
  /** What breaks a rule of the SKILL.md standard; it works nevertheless. */
  readonly warnings: readonly string[];
}

/** Changes what skills there are. All of it counts from the next message on. */
export interface SkillsApi {
  /** @throws {RequestError} 404; {ConfigError} when the file of what is off cannot be read or written */
  enable(name: string, isEnabled: boolean): Promise<{ readonly name: string; readonly enabled: boolean }>;
  /**
   * All of them or none, each whole or not at all. Nothing that is in them is run.
   *
   * @throws {RequestError} 400 with a sentence for the person who named the place, 409 when there is one of that name
   */
  install(request: SkillInstall, signal: AbortSignal): Promise<readonly InstalledSkill[]>;
  /** Writes one to start from. @throws {RequestError} 400 for what cannot be a name, 409 when there is one */
  create(name: string, description: string): Promise<InstalledSkill>;
  /** @throws {RequestError} 404; 409 when it cannot be read, 413 */
  file(name: string): Promise<SkillText>;
  /**
   * Only a text that works as a skill is written. Without a revision the one that is there is not looked at.
   *
   * @throws {RequestError} 404; 400 with what is wrong, 409 when it is not of this workspace, 412 when `revision` is not
   *   that of the file any more, 413
   */
  write(name: string, text: string, revision: string | undefined): Promise<WrittenSkill>;
  /** With all that lies beside it, where it has a folder of its own. @throws {RequestError} 404; 409 when it is not of this workspace */
  remove(name: string): Promise<void>;
  /** Files that are not in the list, each as one sentence that says why. */
  leftOut(): readonly string[];
}

export interface SkillSummary {
  readonly name: string;
  readonly description: string;
  readonly source: "workspace" | "bundled" | "user";
  readonly path: string;
  readonly enabled: boolean;
  /** The front matter's name, where it has one. */
  readonly displayName?: string;
  /** The front matter's `allowed-tools`: what the skill's author had in mind. It allows and forbids nothing. */
  readonly allowedTools?: readonly string[];
  /** What is wrong with it, each as one sentence. It can be used nevertheless. */
  readonly problems?: readonly string[];
}

/** What skills there are. */
export interface KnownSkillsApi {
  listSkills(): Promise<readonly SkillSummary[]>;
  /** @throws {RequestError} 404 */
  getSkill(name: string): Promise<SkillSummary & { readonly content: string }>;
}
