import { z } from "zod";
import { print, printNote, printTable } from "./output.js";
import { printQr } from "./qr.js";

const devices = z.object({
  needsToken: z.boolean(),
  devices: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      browser: z.string(),
      address: z.string(),
      firstSeen: z.string(),
      lastSeen: z.string(),
    }),
  ),
});
const invitation = z.object({ url: z.string(), expiresAt: z.string(), warning: z.string().optional() });

export function printDevices(answer: unknown): void {
  const { needsToken, devices: all } = devices.parse(answer);
  if (!needsToken) print("The gateway has no token, so nobody signs in. Set gateway.token first.");
  else if (all.length === 0) print("No browser is signed in.");
  else
    printTable(
      ["ID", "LAST SEEN", "SINCE", "ADDRESS", "NAME"],
      all.map(({ id, lastSeen, firstSeen, address, name }) => [id, lastSeen, firstSeen, address, name]),
    );
}

/** The link, and the same as a picture where somebody looks at it. */
export async function printInvitation(answer: unknown): Promise<void> {
  const { url, expiresAt, warning } = invitation.parse(answer);
  if (process.stdout.isTTY) await printQr(url);
  print(url);
  printNote(`It lets one device in, until ${expiresAt}.`);
  if (warning !== undefined) printNote(warning);
}
