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
}

/** What skills there are. */
export interface KnownSkillsApi {
  listSkills(): Promise<readonly SkillSummary[]>;
  /** @throws {RequestError} 404 */
  getSkill(name: string): Promise<SkillSummary & { readonly content: string }>;
}
