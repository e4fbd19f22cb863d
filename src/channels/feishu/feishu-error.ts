import { z } from "zod";
import { ChannelError } from "../../errors.js";
import { cutText } from "../../util/text/cut-text.js";
import { type CallAnswer, retryAfterMs, statusError, withoutMessage } from "../wire/call.js";

export const title = "Feishu";

// https://open.feishu.cn/document/server-docs/getting-started/server-error-codes and the pages of the single methods.
const wrongLogins: ReadonlySet<number> = new Set([403, 514, 10_003, 10_012, 10_013, 10_014, 10_015, 99_991_543]);
const oldTokens: ReadonlySet<number> = new Set([
  99_991_661, 99_991_663, 99_991_664, 99_991_665, 99_991_668, 99_991_671, 99_991_677,
]);
const missingRights: ReadonlySet<number> = new Set([99_991_672, 99_991_679, 230_027]);
const noBot: ReadonlySet<number> = new Set([11_205, 230_006, 232_025]);
const notPublished: ReadonlySet<number> = new Set([99_991_662, 99_991_673]);
const foreignAddress: ReadonlySet<number> = new Set([99_991_401]);
const rateLimit = 99_991_400;
const tooMany: ReadonlySet<number> = new Set([rateLimit, 230_020, 11_232]);
/** It may pass. */
const passing: ReadonlySet<number> = new Set([1, 2200, 230_049, 1_000_040_343, 1_000_040_350]);
/** The same message is being sent: it may be there already. */
const underWay: ReadonlySet<number> = new Set([230_049]);
/** The bot cannot write here any more. */
const closedChats: ReadonlySet<number> = new Set([
  230_002, 230_013, 230_018, 230_029, 230_034, 230_035, 230_038, 230_053, 232_006, 232_009, 232_011,
]);
const goneMessages: ReadonlySet<number> = new Set([230_011, 230_019, 230_110]);
const noThreads: ReadonlySet<number> = new Set([230_071]);
const refusedCards: ReadonlySet<number> = new Set([230_099, 200_621]);
const waitMs = 1000;

const said = z.looseObject({
  code: z.number(),
  msg: z.string().catch(""),
  error: z
    .looseObject({
      permission_violations: z
        .array(z.looseObject({ subject: z.string() }))
        .nullish()
        .catch(undefined),
    })
    .nullish()
    .catch(undefined),
});
export type Said = z.output<typeof said>;

/** Feishu has answered, and it was no. */
export class FeishuRefusal extends ChannelError {
  readonly code: number;

  constructor(answer: Said, what: string, waits?: number) {
    const { code } = answer;
    const hint = hintFor(answer);
    super(
      `Feishu refused ${what} (code ${code}: ${cutText(answer.msg, 200)}).${hint === undefined ? "" : ` ${hint}`}`,
      {
        outcome: underWay.has(code) ? "unknown" : "refused",
        retryable: isOwnersMatter(code) || tooMany.has(code) || passing.has(code) || oldTokens.has(code),
        retryAfterMs: tooMany.has(code) ? (waits ?? waitMs) : waits,
        isChatClosed: closedChats.has(code),
      },
    );
    this.code = code;
  }

  /** The access token is not good any more: another one may be. */
  get isOldToken(): boolean {
    return oldTokens.has(this.code);
  }

  /** The message that is answered, or its thread, is not there any more. */
  get isAnsweredGone(): boolean {
    return goneMessages.has(this.code);
  }

  /** Messages of this kind cannot be answered in a thread. */
  get hasNoThread(): boolean {
    return noThreads.has(this.code);
  }

  /** What is in the card cannot be shown. */
  get isAboutCard(): boolean {
    return refusedCards.has(this.code);
  }

  /** The login, or a right: it does not help to try again until somebody acts. */
  get isOwnersMatter(): boolean {
    return isOwnersMatter(this.code);
  }
}

function isOwnersMatter(code: number): boolean {
  return [wrongLogins, missingRights, noBot, notPublished, foreignAddress].some((codes) => codes.has(code));
}

function hintFor(answer: Said): string | undefined {
  const { code } = answer;
  if (wrongLogins.has(code))
    return "Put the App ID and the App Secret of the page Credentials & Basic Info into channels.feishu.appId and channels.feishu.appSecret. An app of Lark needs channels.feishu.domain lark.";
  if (missingRights.has(code))
    return `Give the app ${rightsIn(answer)} on its page Permissions & Scopes, and publish a new version.`;
  if (noBot.has(code)) return "Add the ability Bot on the app's page Add Features, and publish a new version.";
  if (notPublished.has(code)) return "Publish the app on its page Version Management & Release.";
  if (foreignAddress.has(code))
    return "Add the address of this machine to the app's IP whitelist (Security Settings), or empty that list.";
  if (code === 1_000_040_350) return "The app has too many connections: 50 are the most.";
  if (code === 230_013) return "Take this person into the app's range of availability (Version Management & Release).";
  return undefined;
}

/** One of them is enough where Feishu lists several. */
function rightsIn({ msg, error }: Said): string {
  const named = (error?.permission_violations ?? []).map(({ subject }) => subject);
  const listed = named.length > 0 ? named : (/\[([\w:.,\s-]{1,400})\]/.exec(msg)?.[1]?.split(",") ?? []);
  const rights = listed.map((right) => right.trim()).filter((right) => right !== "");
  if (rights.length === 0) return "the right that is missing (docs/feishu.md lists all)";
  return rights.length === 1 ? `the right ${rights[0]}` : `one of the rights ${rights.join(", ")}`;
}

/** Feishu's own code and words in an answer; undefined: there are none. */
export function saidIn(body: Uint8Array): Said | undefined {
  try {
    return said.safeParse(JSON.parse(new TextDecoder().decode(body))).data;
  } catch {
    // A proxy answers with a page of its own.
    return undefined;
  }
}

/** What an answer means that is not a success. */
export function refusalOf(answer: CallAnswer, what: string): ChannelError {
  const { status, headers } = answer;
  const words = saidIn(answer.body);
  const waits = resetMs(headers);
  if (status === 429) return new FeishuRefusal({ code: rateLimit, msg: words?.msg ?? "429" }, what, waits);
  if (words === undefined || words.code === 0) return statusError(title, answer);
  if (status >= 500) return statusError(title, answer, words.msg);
  return new FeishuRefusal(words, what, waits);
}

/** Seconds until calls are taken again. */
function resetMs(headers: Headers): number | undefined {
  return retryAfterMs(headers.get("x-ogw-ratelimit-reset")) ?? retryAfterMs(headers.get("retry-after"));
}

/** As the error that ends a run: one that only the owner can mend is for good. */
export function forRun(error: unknown): unknown {
  return error instanceof FeishuRefusal && error.isOwnersMatter
    ? new ChannelError(error.message)
    : withoutMessage(error);
}
