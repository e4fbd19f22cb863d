/** A question that waits for a person, as any client may show it. */
export interface WaitingQuestion {
  readonly sessionKey: string;
  readonly requestId: string;
  readonly kind: "clarification" | "decision" | "env_var" | "permission";
  readonly question: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
  /** Of a permission: whose yes counts. `asker`: also that of who asked. */
  readonly approver?: "asker" | "owner";
  /** Names of the secrets that are asked for. */
  readonly fields: readonly string[];
  readonly allowCustom: boolean;
  /** What would run, whole; for permissions. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** What the configuration and people have decided about tools. */
export interface PolicyView {
  readonly executionMode: "safe" | "ask" | "auto";
  readonly rules: readonly Readonly<Record<string, string>>[];
  /** Rules that can never allow what they are written for, each as one sentence. */
  readonly problems: readonly string[];
  /** What was answered with "always allow". */
  readonly grants: readonly {
    readonly id: string;
    readonly tool: string;
    /** Of a call its whole input, as JSON with sorted names. */
    readonly argument: string;
    /** Of a command: what it names in the workspace, by what that held then. */
    readonly files: readonly { readonly path: string; readonly sha256: string }[];
    /** As a session key. */
    readonly chat: string;
    /** `channel:sender` of who asked. */
    readonly for: string;
    readonly grantedBy: string;
    readonly grantedAt: string;
    /** Of an earlier version, which bound it to less: it allows nothing any more. */
    readonly isOld: boolean;
  }[];
}

/** Questions to people, and what they have allowed for always. */
export interface PolicyApi {
  listQuestions(): readonly WaitingQuestion[];
  /**
   * Answers a question as its owner: by an option's id, number or label, by one's own words where they are allowed, or
   * with the values of secrets. Resolves with the answer as it is told, once it is durable.
   *
   * @throws {RequestError} 404 no such question, 409 closed already, 400 no possible answer
   */
  answerQuestion(request: {
    readonly sessionKey: string;
    readonly requestId: string;
    readonly answer?: string | undefined;
    readonly values?: Readonly<Record<string, string>> | undefined;
  }): Promise<{ readonly answer: string }>;

  policy(): PolicyView;
  /** Takes an "always allow" back. @throws {RequestError} 404 */
  revokeGrant(id: string): Promise<void>;
}
