import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";

const fixture = z.record(z.string(), z.string());

/** What only one run of a program needs, and what holds addresses of one machine. */
const left = /(?:^|\/)(?:gateway\.lock|\.lock|format\.json|reserve\.tmp|config\.json)$|^logs\//;

/** The files of a home by their paths, in base64, as one file. */
export async function packHome(home: string, file: string): Promise<void> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  const files: Record<string, string> = {};
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name).slice(home.length + 1);
    if (entry.isFile() && !left.test(path)) files[path] = await readFile(join(home, path), "base64");
  }
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(file, `${JSON.stringify(sorted, null, 2)}\n`);
}

export async function unpackHome(file: string, home: string): Promise<void> {
  for (const [path, content] of Object.entries(fixture.parse(JSON.parse(await readFile(file, "utf8"))))) {
    await mkdir(dirname(join(home, path)), { recursive: true, mode: 0o700 });
    await writeFile(join(home, path), Buffer.from(content, "base64"), { mode: 0o600 });
  }
}
