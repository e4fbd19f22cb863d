/** A tool that comes with the program or an extension. */
export interface ToolView {
  readonly name: string;
  /** What the model is told about it. */
  readonly description: string;
  readonly isOn: boolean;
  /** A setting switches it. Others can be denied by a rule. */
  readonly canSwitch: boolean;
}

/** Something that the assistant might want to do, for somebody. */
export interface PolicyTrial {
  /** `call`: use this tool, whose effects nobody knows. */
  readonly kind: "command" | "read" | "write" | "fetch" | "call";
  /** The command, the path (absolute, or relative to the workspace), the address; of a call its input as JSON. */
  readonly argument: string;
  /** Of a call. */
  readonly tool?: string | undefined;
  /** Who asks for it. */
  readonly role: "owner" | "guest";
  readonly chat: "dm" | "group";
  /** Of a command: with the network. */
  readonly hasNetwork?: boolean | undefined;
}

/** What would happen. */
export interface PolicyTrialResult {
  readonly verdict: "allow" | "ask" | "deny";
  /** What it was taken for, e.g. `run df -h`, where that is known. */
  readonly what?: string | undefined;
  /** Why it is asked or denied. */
  readonly because?: string | undefined;
  /** It is allowed by a rule. */
  readonly isByRule?: boolean | undefined;
  /** Of a question: who may answer it. */
  readonly approver?: "asker" | "owner" | undefined;
  /** Of a command: it would run in a sandbox. */
  readonly isSandboxed?: boolean | undefined;
}

/** The tools that the model has, and what policy says about using them. */
export interface ToolsApi {
  list(): readonly ToolView[];
  /**
   * Asks the policy that is in force, as a new chat would without text from others in it. Nothing is done, and nobody is asked.
   *
   * @throws {RequestError} 400 for what cannot be asked about, 404 for a tool that there is not
   */
  tryPolicy(trial: PolicyTrial): Promise<PolicyTrialResult>;
}
