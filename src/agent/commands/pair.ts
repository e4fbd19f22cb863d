import { RequestError } from "../../errors.js";
import type { PairedSender, PairingRequest } from "../../policy/pairing.js";

/** Who may talk besides those of the config. */
export interface PairingDesk {
  list(): { readonly waiting: readonly PairingRequest[]; readonly paired: readonly PairedSender[] };
  /** @throws {RequestError} with a sentence for the person who wrote the code */
  approve(code: string): Promise<PairedSender>;
  /** @throws {RequestError} where that sender is not paired */
  revoke(channel: string, senderId: string): Promise<void>;
}

const usage = "/pair CODE gives somebody access, /pair revoke channel:sender takes it away.";

/** `/pair`, for those who may. */
export async function runPairCommand(argument: string, desk: PairingDesk): Promise<string> {
  const words = argument.split(/\s+/).filter((word) => word !== "");
  const [verb = "", ...rest] = words;
  try {
    switch (verb.toLowerCase()) {
      case "":
      case "list":
        return describe(desk);
      case "revoke":
        return await revoke(rest.join(" "), desk);
      case "approve":
        return rest.length === 0 ? usage : await approve(rest.join(" "), desk);
      default:
        return await approve(words.join(" "), desk);
    }
  } catch (error) {
    if (error instanceof RequestError) return error.message;
    throw error;
  }
}

async function approve(code: string, desk: PairingDesk): Promise<string> {
  const paired = await desk.approve(code);
  return `${nameOf(paired)} may talk to me now. They do not know this yet: let them know that they can write again.`;
}

async function revoke(sender: string, desk: PairingDesk): Promise<string> {
  const colon = sender.indexOf(":");
  if (colon < 1 || colon === sender.length - 1) return usage;
  await desk.revoke(sender.slice(0, colon), sender.slice(colon + 1));
  return `${sender} may not talk to me any more.`;
}

function describe(desk: PairingDesk): string {
  const { waiting, paired } = desk.list();
  return [
    ...(waiting.length === 0 ? ["Nobody waits."] : ["Waiting:"]),
    ...waiting.map((one) => `- ${one.code}: ${nameOf(one)}, until ${one.expiresAt.slice(0, 16)}Z`),
    ...(paired.length === 0 ? [] : ["", "Let in:"]),
    ...paired.map((one) => `- ${nameOf(one)}, since ${one.pairedAt.slice(0, 10)}`),
    "",
    usage,
  ].join("\n");
}

/** What strangers call themselves is their own choice: it is in quotes, on one line. */
function nameOf({ channel, senderId, senderName }: Pick<PairedSender, "channel" | "senderId" | "senderName">): string {
  const name = senderName?.replace(/[\s`*_[\]()<>]+/g, " ").trim();
  return name === undefined || name === "" ? `${channel}:${senderId}` : `${channel}:${senderId} (“${name}”)`;
}
