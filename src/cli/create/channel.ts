import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isReservedChannel } from "../../onboarding/set-up.js";
import { codeOf } from "../../util/error-code.js";
import { ownPackage } from "../../util/package-folder.js";
import { CommandError, exitCodes } from "../exit.js";

/** The name that the example has. */
const example = { name: "my-chat", title: "My chat", type: "MyChat", variable: "MY_CHAT" } as const;

/**
 * Writes the beginning of an extension with a channel of this name into a new folder. Resolves with the files.
 *
 * @throws {CommandError} the name cannot be one, or the folder is there
 */
export async function createChannel(name: string, below: string): Promise<readonly string[]> {
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(name) || name.endsWith("-"))
    throw new CommandError(`"${name}" is not a name for a channel. Use a-z, 0-9 and -.`, exitCodes.usage);
  if (isReservedChannel(name))
    throw new CommandError(
      `There is a channel ${name} already, or an account can have this name. Choose another name.`,
      exitCodes.usage,
    );
  const folder = resolve(below, name);
  try {
    await mkdir(folder);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw new CommandError(`${folder} is there already. Nothing was written.`);
    throw error;
  }
  const from = join(ownPackage().folder, "examples", "channel");
  const files: string[] = [];
  for (const file of (await readdir(from)).sort()) {
    const text = await readFile(join(from, file), "utf8");
    const target = join(folder, renamed(file, name));
    await writeFile(target, renamed(text, name), { flag: "wx" });
    files.push(target);
  }
  return files;
}

function renamed(text: string, name: string): string {
  const words = name.split("-").filter((word) => word !== "");
  const type = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return text
    .replaceAll(example.name, name)
    .replaceAll(
      example.title,
      words.join(" ").replace(/^./, (letter) => letter.toUpperCase()),
    )
    .replaceAll(example.type, type)
    .replaceAll(example.variable, name.toUpperCase().replaceAll("-", "_"));
}
