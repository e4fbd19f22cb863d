import { execFileSync } from "node:child_process";
import { link, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { keptFolderOf } from "../../../src/policy/locations/zones.js";
import { defineTool } from "../../../src/tools/tool.js";

/** Sends a file of the session's folder, and a sentence before it. */
export const handOver = defineTool({
  name: "hand_over",
  description: "Sends a file.",
  input: z.object({ name: z.string() }),
  effect: "write",
  risk: "none",
  origin: "builtin",
  async run({ name }, { folder, chat }) {
    const path = join(keptFolderOf(folder), "received", name);
    const bytes = await readFile(path).catch(() => Buffer.from("made here"));
    const made = join(folder, "..", name);
    await makeFile(made, bytes);
    const attachment = { path: made, filename: name, mimeType: mimeOf(name), sizeBytes: bytes.length };
    const count = await chat.send({ content: `Here is ${name}.`, attachments: [attachment] });
    return { text: `sent as ${count} messages`, isError: false, summary: `sent ${name}` };
  },
});

/** As a file is, or as a command could have left it by the time it is sent. */
async function makeFile(file: string, bytes: Buffer): Promise<void> {
  const secret = `${file}.secret`;
  if (!/link|pipe|twin/.test(file)) return await writeFile(file, bytes);
  await writeFile(secret, "the secret text");
  if (file.includes("link")) await symlink(secret, file);
  else if (file.includes("twin")) await link(secret, file);
  else execFileSync("mkfifo", [file]);
}

function mimeOf(name: string): string {
  return name.endsWith(".png") ? "image/png" : name.endsWith(".ogg") ? "audio/ogg" : "text/plain";
}
