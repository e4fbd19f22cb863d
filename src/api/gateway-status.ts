export interface ChannelStatus {
  readonly name: string;
  readonly state: "connecting" | "connected" | "reconnecting" | "disconnected" | "off";
  /** Why it is off or not connected. */
  readonly reason?: string;
  /** When it came into this state, ISO 8601. */
  readonly since?: string;
  /** The last proof that the connection works, ISO 8601: an answered poll, a pong. Not the state of a socket. */
  readonly lastSeenAt?: string;
  /** For people; absent where it is called as in the config. */
  readonly title?: Words;
  /** What its owner must do before it can work. */
  readonly toDo?: {
    readonly text: Words;
    /** What a phone must scan, shown as a QR code. */
    readonly scan?: string | undefined;
  };
}

/** The same in the languages of the page. */
export interface Words {
  readonly en: string;
  readonly zh: string;
}

/** Whether commands run in a sandbox. */
export type SandboxStatus =
  | { readonly state: "checking" | "off" }
  | { readonly state: "ready"; readonly name: string }
  | { readonly state: "unavailable"; readonly reason: string };

export interface StuckChatStatus {
  readonly sessionKey: string;
  readonly waiting: number;
  /** ISO 8601. */
  readonly since: string;
  /** What it waits for, in words that follow on "the chat". */
  readonly reason: string;
}

/** What makes messages durable. */
export interface EngineFacts {
  readonly kind: "embedded" | "postgres";
  /** This process among all that work on the same messages. Another one at each start. */
  readonly nodeId: string;
  /** Of `postgres`: which database, without a password. */
  readonly database?: string | undefined;
  readonly schema?: string | undefined;
}

export interface GatewayStatus {
  readonly version: string;
  /** Absent where an engine was given that the config does not name. */
  readonly engine?: EngineFacts | undefined;
  readonly state: "starting" | "ready" | "draining" | "stopped";
  readonly instanceId: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly home: string;
  readonly workspace: string;
  readonly model: string;
  readonly provider: string;
  /** Why this provider answers for the model, as the end of a sentence. */
  readonly providerReason?: string;
  /** Of the config: what tools may do without a question. */
  readonly executionMode?: "safe" | "ask" | "auto";
  /** Of the config: tools stay in the workspace. */
  readonly restrictToWorkspace?: boolean;
  readonly channels: readonly ChannelStatus[];
  /** What is wrong or off, each as one sentence: config sections, channels that do not exist yet, a full disk. */
  readonly problems: readonly string[];
  /** What the config file says and the gateway does not do yet; `problems` says the same in words. */
  readonly config?:
    | {
        /** Absent where there is no file. */
        readonly path?: string | undefined;
        /** Settings that count from the next start on, e.g. `channels.telegram.token`. */
        readonly restart: readonly string[];
        /** Why the file as it is now is not used, while the gateway goes on with what it had. */
        readonly problem?: string | undefined;
      }
    | undefined;
  /** Tools that are not offered, and what to install for them. */
  readonly missing: readonly string[];
  /** Of commands. */
  readonly sandbox?: SandboxStatus & {
    /**
     * What commands do where there is no sandbox. `ask`: each of them, unless a rule or an "always" allows it. `unasked`: mode
     * `auto` runs them, and asks only where its words name secrets, leave the workspace or destroy too much. `none` runs.
     */
    readonly bare?: "ask" | "unasked" | "none";
    /** Where the memory of commands is not limited: that, and why. */
    readonly memory?: string;
  };
  readonly inboundWaiting: number;
  readonly outboundWaiting: number;
  readonly deadLetters: number;
  /** Chats that do not get on: many messages wait there, or none can be taken. */
  readonly stuckChats: readonly StuckChatStatus[];
  readonly rssBytes: number;
  /** fdatasyncs that somebody waited for, since the start. */
  readonly syncs?: number;
}
