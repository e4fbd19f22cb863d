/**
 * One thing that a tool call is about to do, as policy is asked about it before it is done. Paths are absolute and
 * resolved.
 */
export type ToolAccess =
  /** The call as such, before the tool has looked at anything. */
  | { readonly kind: "call"; readonly input: unknown }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "write"; readonly path: string }
  /**
   * `sends`: the request can carry something out, because it posts or because the model made its address up. The latter
   * is `isAddressOnly`: harmless, as long as nobody but the sender has a say in what the model makes up.
   */
  | { readonly kind: "network"; readonly url: string; readonly sends: boolean; readonly isAddressOnly?: boolean }
  /** A message to people. `isOwn`: in the chat that the turn answers. */
  | { readonly kind: "chat"; readonly chat: string; readonly isOwn: boolean }
  /** `hasNetwork`: the sandbox leaves the network open, this machine's own ports included. */
  | {
      readonly kind: "command";
      readonly command: string;
      readonly isSandboxed: boolean;
      readonly hasNetwork?: boolean | undefined;
      /** Where it starts; absent: in the session's own folder. */
      readonly cwd?: string | undefined;
    }
  /** `owner`: the owner's memory and all conversations. `chat`: what this chat has of its own. */
  | { readonly kind: "memory"; readonly access: "read" | "write"; readonly of: "owner" | "chat" }
  /** The scheduled jobs of this chat. */
  | { readonly kind: "schedule"; readonly detail: string }
  | { readonly kind: "other"; readonly detail: string };

/** What policy has to know about a tool. */
export interface ToolTraits {
  readonly name: string;
  readonly effect: "read" | "idempotent" | "write";
  /**
   * `none`: harms nothing, whatever its input. `access`: asks policy itself for each thing it is about to do, before it
   * does the first one. `call`: unknown, so that the call as such is decided on.
   */
  readonly risk: "none" | "access" | "call";
  /**
   * Of risk `access`: which calls, by their checked input, ask for nothing, so that what rules say about the input is all that
   * can be said about them. `all`: no call ever asks.
   */
  readonly asksNothing?: "all" | ((input: unknown) => boolean) | undefined;
}

export type ExecutionMode = "safe" | "ask" | "auto";
export type Role = "owner" | "guest";
/** `asker`: whose message it is, or an owner. `owner`: an owner alone, because who asked is a guest and it is not only theirs. */
export type Approver = "asker" | "owner";

/** A file that a command runs or reads, and what it holds at this moment. */
export interface BoundFile {
  /** Absolute. */
  readonly path: string;
  readonly sha256: string;
}
/** Who reads along where the turn's answer goes: owners alone, or anybody else. */
export type Audience = "owner" | "others";

/** One thing that a tool call is about to do, and for whom. */
export interface ToolUse {
  readonly tool: ToolTraits;
  readonly access: ToolAccess;
  /** Whose message the turn answers. */
  readonly speaker: {
    readonly channel: string;
    readonly senderId: string;
    readonly chatType: "dm" | "group";
    readonly role: Role;
    readonly audience: Audience;
  };
  /** The session's own folder, `<workspace>/.sessions/<name>`. */
  readonly folder: string;
  /** The chat that it is done for, as a session key. Absent: nothing can be allowed for always. */
  readonly chat?: string | undefined;
  /** What the same call was allowed before this, the call itself first. */
  readonly earlier?: readonly ToolAccess[] | undefined;
  /** Of a command: what it names in the workspace. Absent: that is not known. */
  readonly files?: readonly BoundFile[] | undefined;
  /** Where those parts of the context came from that others wrote: pages, mails, files that were sent. */
  readonly outside?: readonly string[] | undefined;
  /** A plan is being made and the person has not said go: nothing may be changed yet. */
  readonly isPlanning?: boolean | undefined;
}

export type ToolDecision =
  /** `by`: a person has said so beforehand, by a rule or for always, and nobody looks at it now. */
  | { readonly verdict: "allow"; readonly by?: "rule" | "grant" }
  /** `sentence` is for the model. */
  | { readonly verdict: "deny"; readonly sentence: string }
  /** For a person: `what` it would do, and why that is asked. `canGrant`: "always" may be answered. */
  | {
      readonly verdict: "ask";
      readonly what: string;
      readonly because: string;
      readonly canGrant: boolean;
      readonly approver: Approver;
    };

/** Of a tool that asks about each thing that it does: the call as such, which may stand for several. */
export function isCallOfParts({ access, tool }: Pick<ToolUse, "access" | "tool">): boolean {
  return access.kind === "call" && tool.risk === "access" && tool.asksNothing !== "all";
}

/** True where something can leave the gateway for people or places other than this chat. */
export function isOutward(tool: ToolTraits, access: ToolAccess): boolean {
  switch (access.kind) {
    case "read":
    case "write":
      return false;
    case "network":
      return access.sends;
    case "chat":
      return !access.isOwn;
    case "command":
      return isOpenCommand(access);
    case "memory":
      // What is kept speaks to every later conversation.
      return access.access === "write";
    case "schedule":
      return access.detail === "add";
    case "call":
      return tool.risk === "call" && tool.effect !== "read";
    case "other":
      return tool.effect !== "read";
    default:
      return unknownAccess(access);
  }
}

/** A command that can reach more than this chat's own folder. */
export function isOpenCommand(access: Extract<ToolAccess, { kind: "command" }>): boolean {
  return !access.isSandboxed || access.hasNetwork === true;
}

/** What rules and remembered approvals name the access by: one text, unique within its kind. */
export function argumentOf(access: ToolAccess): string {
  switch (access.kind) {
    case "read":
    case "write":
      return access.path;
    case "network":
      return access.url;
    case "chat":
      return access.chat;
    case "command":
      return access.command;
    case "call":
      return JSON.stringify(access.input) ?? "";
    case "memory":
      return access.access;
    case "schedule":
    case "other":
      return access.detail;
    default:
      return unknownAccess(access);
  }
}

export function unknownAccess(access: never): never {
  throw new Error(`No rule for ${JSON.stringify(access satisfies never)}`);
}
