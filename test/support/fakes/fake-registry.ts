import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageFolder } from "../project.js";

const run = promisify(execFile);

/** A registry of npm with some of the packages that the project itself has installed. */
export interface FakeRegistry extends AsyncDisposable {
  readonly url: string;
  /** The hash of what it gives out, as a lock has it. */
  integrityOf(name: string): string;
  /** What it does to everyone who downloads a package from now on. */
  fault: "none" | "cut" | "other-bytes" | "wait";
  /** Names of the packages that were asked for, in order. */
  readonly downloads: readonly string[];
}

interface Kept {
  readonly version: string;
  readonly manifest: object;
  readonly bytes: Buffer;
  readonly integrity: string;
}

export async function startFakeRegistry(names: readonly string[]): Promise<FakeRegistry> {
  const kept = new Map<string, Kept>();
  for (const name of names) kept.set(name, await pack(name));
  const downloads: string[] = [];
  const server = createServer((request, response) => {
    const [path = "", file] = decodeURIComponent(request.url ?? "/")
      .slice(1)
      .split("/-/");
    const found = kept.get(path);
    if (found === undefined) return void response.writeHead(404, { "content-type": "application/json" }).end("{}");
    if (file === undefined) {
      const dist = { tarball: `${registry.url}/${path}/-/${found.version}.tgz`, integrity: found.integrity };
      const versions = { [found.version]: { ...found.manifest, dist } };
      const answer = { name: path, "dist-tags": { latest: found.version }, versions };
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    }
    downloads.push(path);
    if (registry.fault === "wait") return;
    response.writeHead(200, { "content-length": found.bytes.length });
    if (registry.fault === "cut") {
      response.write(found.bytes.subarray(0, found.bytes.length >> 1), () => response.destroy());
      return;
    }
    const bytes = Buffer.from(found.bytes);
    // The header of gzip says when it was packed: another package of the same name.
    if (registry.fault === "other-bytes") bytes.writeUInt32LE(12_345, 4);
    response.end(bytes);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  const registry: FakeRegistry = {
    url: `http://127.0.0.1:${port}`,
    fault: "none",
    downloads,
    integrityOf: (name) => kept.get(name)?.integrity ?? "",
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return registry;
}

async function pack(name: string): Promise<Kept> {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-registry-"));
  try {
    const source = packageFolder(name);
    await mkdir(join(folder, "all"));
    await symlink(source, join(folder, "all", "package"));
    await run("tar", [
      "-chzf",
      join(folder, "package.tgz"),
      "--exclude=package/node_modules",
      "-C",
      join(folder, "all"),
      "package/.",
    ]);
    const bytes = await readFile(join(folder, "package.tgz"));
    const manifest = JSON.parse(await readFile(join(source, "package.json"), "utf8"));
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    return { version: manifest.version, manifest, bytes, integrity };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
