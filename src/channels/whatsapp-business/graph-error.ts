import { z } from "zod";
import { ChannelError } from "../../errors.js";
import type { CallAnswer } from "../wire/call.js";
import { statusError } from "../wire/call.js";

export const title = "WhatsApp";

/** Meta's own number for what went wrong. */
export class GraphError extends ChannelError {
  readonly code: number;

  constructor(code: number, message: string, options: ConstructorParameters<typeof ChannelError>[1]) {
    super(message, options);
    this.code = code;
  }
}

/** The person has not written for 24 hours. */
export const windowClosed = 131_047;

const refusal = z.looseObject({
  error: z.looseObject({
    code: z.number(),
    message: z.string().catch(""),
    error_data: z.looseObject({ details: z.string().optional() }).optional().catch(undefined),
  }),
});

/** A send or a login that Meta has refused. `secrets`: what must not be in a message. */
export function graphError(answer: CallAnswer, secrets: readonly string[]): ChannelError {
  const said = refusal.safeParse(jsonIn(answer.body)).data?.error;
  if (said === undefined) return statusError(title, answer);
  const { code, message, error_data: data } = said;
  const words = withoutSecrets(data?.details ?? message, secrets);
  const wait = waits.get(code);
  // A fault without a number of its own may come from behind the place where the message was taken.
  const isUnclear = answer.status >= 500 && answer.status !== 503 && vague.has(code);
  return new GraphError(code, `${sentenceOf(code, words)} (${code})`.replace(/\.? \((\d+)\)$/, " (code $1)."), {
    outcome: isUnclear ? "unknown" : "refused",
    retryable: wait !== undefined || answer.status === 429 || answer.status >= 500 || isAboutAccount(code),
    retryAfterMs: waitNamed(answer) ?? (wait === 0 ? undefined : wait),
  });
}

/** What a number of Meta's means; `said`: its own words. */
export function sentenceOf(code: number, said = ""): string {
  const known = sentences.get(code);
  if (known !== undefined) return known;
  if (isMissingRight(code)) return missingRight;
  return said === "" ? "WhatsApp refused the request." : `WhatsApp refused the request: ${said}`;
}

const key = "channels.whatsapp-business";
const missingRight = `The access token lacks the right whatsapp_business_messaging. Add it to the system user and make a new ${key}.accessToken.`;
const wrongToken = `WhatsApp does not take the access token: it is wrong or has ended. Correct ${key}.accessToken.`;
const slower = "WhatsApp wants fewer messages for a while.";

/** Token, rights, payment, a block, a number that is not registered. */
const accountCodes: ReadonlySet<number> = new Set([
  ...[0, 190, 3, 131_005, 368, 131_031, 131_042, 131_045, 131_048, 133_010],
]);

function isMissingRight(code: number): boolean {
  return code === 10 || (code >= 200 && code <= 299);
}

/** About the account and not about a message, which waits until somebody has acted. */
export function isAboutAccount(code: number): boolean {
  return accountCodes.has(code) || isMissingRight(code);
}

const vague: ReadonlySet<number> = new Set([1, 2]);

/** Numbers after which trying again can help, and how long to wait; 0: as long as the queue does. */
const waits: ReadonlyMap<number, number> = new Map([
  [1, 0],
  [2, 0],
  [4, 60_000],
  [80_007, 60_000],
  [130_429, 1000],
  [131_000, 0],
  [131_016, 0],
  [131_056, 6000],
  [131_057, 60_000],
  [133_004, 0],
]);

/** https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes */
const sentences: ReadonlyMap<number, string> = new Map([
  [0, wrongToken],
  [190, wrongToken],
  [3, missingRight],
  [131_005, missingRight],
  [4, slower],
  [80_007, slower],
  [130_429, slower],
  [131_056, "WhatsApp wants fewer messages to this person for a while."],
  [368, "Meta has blocked this account for a while because of its rules. Look at the page Business support home."],
  [131_031, "Meta has locked this account. Look at the page Business support home."],
  [
    131_048,
    "Too many people have reported messages of this number, so WhatsApp sends fewer of them. Look at its quality in the WhatsApp Manager.",
  ],
  [131_000, "Something went wrong at WhatsApp."],
  [131_016, "WhatsApp is overloaded or in maintenance."],
  [131_057, "The number is in maintenance at WhatsApp."],
  [131_021, "The assistant cannot write to its own number."],
  [
    131_026,
    "The message cannot be delivered: this number has no WhatsApp, has an old one, or has not accepted its terms.",
  ],
  [131_030, "A test number can only write to numbers on its list. Add this one on the page API Setup."],
  [131_042, "WhatsApp needs a means of payment for this account. Add one in the WhatsApp Manager."],
  [131_045, "The number is not registered. Register it in the WhatsApp Manager."],
  [133_010, "The number is not registered. Register it in the WhatsApp Manager."],
  [
    windowClosed,
    `This person last wrote more than 24 hours ago. WhatsApp allows only an approved template then: set ${key}.template, or wait until they write.`,
  ],
  [131_049, "Meta has chosen not to deliver this message, so that people do not get too many from businesses."],
  [131_052, "WhatsApp could not fetch the file that this person sent."],
  [131_053, "WhatsApp does not take this file: its kind or its size is not allowed."],
  [132_000, `The template of ${key}.template must have exactly one variable in its text.`],
  [132_001, `There is no approved template with the name and language of ${key}.template.`],
  [132_005, "The text is too long for the template."],
  [132_012, `The template of ${key}.template must have exactly one variable in its text.`],
  [132_015, `Meta has paused the template of ${key}.template because of its quality.`],
  [132_016, `Meta has switched off the template of ${key}.template because of its quality.`],
]);

function waitNamed({ headers }: CallAnswer): number | undefined {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : undefined;
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, "***"), text).replace(/EA[A-Za-z0-9]{20,}/g, "***");
}

function jsonIn(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    // A proxy's page.
    return undefined;
  }
}
