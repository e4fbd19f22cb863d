import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { chmod, lstat, rm } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "../util/files/make-folder.js";
import type { McpServerSettings } from "./settings.js";

/** Where a server that is started here begins, unless its section names another place. Nobody else writes there. */
export function serverFolderOf(home: string, name: string): string {
  const isPlain = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name);
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return path.join(home, "mcp", isPlain ? name : `${name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40)}-${hash}`);
}

/**
 * Many programs look for code in the folder that they begin in. So it is empty each time: not even what the server was
 * talked into writing there is found.
 */
export async function emptyServerFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await makeFolder(folder);
  if (!(await lstat(folder)).isDirectory()) throw new Error(`${folder} is not a folder`);
  await chmod(folder, 0o700);
}

/** What is risky about the places of servers that are started here, each as one sentence. */
export function folderProblems(
  servers: readonly McpServerSettings[],
  { home, workspace }: { readonly home: string; readonly workspace: string },
): readonly string[] {
  return servers.flatMap(({ name, command, args, cwd }) => {
    if (command === undefined) return [];
    const inside = [cwd, command, ...args.filter((arg) => /\.\w{1,4}$/.test(arg))].find(
      (target) => target !== undefined && path.isAbsolute(target) && isBelow(workspace, target),
    );
    const risk: string[] =
      inside === undefined
        ? []
        : [
            `MCP server ${name} runs ${inside}, which is in the workspace: everybody who can write there decides what it does. Move it elsewhere.`,
          ];
    const relative = cwd === undefined ? args.find((arg) => /^\.{1,2}(?:[\\/]|$)/.test(arg)) : undefined;
    if (relative !== undefined)
      risk.push(
        `MCP server ${name} is given ${relative}, a path in its own empty folder. Write the whole path, or set tools.mcpServers.${name}.cwd.`,
      );
    const left = cwd === undefined ? namesIn(serverFolderOf(home, name)) : [];
    if (left.length === 0) return risk;
    const named = left.slice(0, 3).join(", ");
    return [
      ...risk,
      `MCP server ${name} keeps files in its folder (${named}), which is emptied when it starts. To keep them, set tools.mcpServers.${name}.cwd to a folder outside of the workspace.`,
    ];
  });
}

function isBelow(root: string, target: string): boolean {
  const relative = path.relative(root, target);
  return relative === "" || (relative.split(path.sep)[0] !== ".." && !path.isAbsolute(relative));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
