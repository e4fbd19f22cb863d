import { appendFileSync, closeSync, fsyncSync, openSync, readFileSync } from "node:fs";
import type { Publish } from "../../../src/channels/channel.js";
import { createWhatsAppChannel } from "../../../src/channels/whatsapp/whatsapp.js";
import { silentLog } from "../../../src/log.js";
import { testContext } from "../worlds/channels/over-fake.js";

// The channel in a process that kills itself at its n-th step. What it has taken is in a file, on the disk.
const [bridgeUrl = "", file = "", place = "0"] = process.argv.slice(2);
const killAt = Number(place);
let steps = 0;

function step(): void {
  steps += 1;
  if (steps === killAt) process.kill(process.pid, "SIGKILL");
}

const publish: Publish = async ({ dedupId, content }) => {
  step();
  const known = readFileSync(file, "utf8").split("\n");
  const isKnown = known.some((line) => line.startsWith(`${dedupId}\t`));
  const handle = openSync(file, "a");
  appendFileSync(handle, isKnown ? `again\t${content}\n` : `${dedupId}\t${content}\n`);
  fsyncSync(handle);
  closeSync(handle);
  step();
  // After the confirmation has left.
  setTimeout(step, 5);
  return { status: isKnown ? "duplicate" : "accepted" };
};
const channel = createWhatsAppChannel(
  { bridgeUrl, ownChats: new Set(), reconnectMs: 10_000, log: silentLog },
  testContext(),
);
await channel.run(publish, () => undefined, new AbortController().signal);
