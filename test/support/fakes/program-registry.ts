import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A registry of npm that has maxclaw and nothing else. */
export interface ProgramRegistry extends AsyncDisposable {
  readonly url: string;
  /** The last one is the newest. */
  versions: readonly { readonly version: string; readonly file: string }[];
  /** What it does to downloads from now on: `wait` never answers them. */
  fault: "none" | "cut" | "wait" | "other-bytes";
  /** What it waits for before it says which versions there are. */
  held: Promise<void> | undefined;
  /** Whether it names no hash of what it gives. */
  hasNoHashes: boolean;
  /** Resolves at the next download. */
  nextDownload(): Promise<unknown>;
}

export async function startProgramRegistry(): Promise<ProgramRegistry> {
  const server = createServer(async (request, response) => {
    const [path = "", file] = decodeURIComponent(request.url ?? "/")
      .slice(1)
      .split("/-/");
    if (path !== "maxclaw" || registry.versions.length === 0)
      return void response.writeHead(404, { "content-type": "application/json" }).end("{}");
    const kept = await Promise.all(
      registry.versions.map(async ({ version, file: packed }) => ({ version, bytes: await readFile(packed) })),
    );
    if (file === undefined) {
      await registry.held;
      const versions = kept.map(({ version, bytes }) => [
        version,
        {
          ...{ name: "maxclaw", version, bin: { maxclaw: "bin/maxclaw.js" } },
          dist: {
            tarball: `${registry.url}/maxclaw/-/${version}.tgz`,
            ...(registry.hasNoHashes
              ? {}
              : { integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}` }),
          },
        },
      ]);
      const answer = {
        ...{ name: "maxclaw", versions: Object.fromEntries(versions) },
        "dist-tags": { latest: kept.at(-1)?.version },
      };
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    }
    server.emit("download");
    const found = kept.find(({ version }) => file === `${version}.tgz`)?.bytes;
    if (found === undefined || registry.fault === "wait") return;
    const bytes = Buffer.from(found);
    // The header of gzip says when it was packed.
    if (registry.fault === "other-bytes") bytes.writeUInt32LE(12_345, 4);
    response.writeHead(200, { "content-length": bytes.length });
    if (registry.fault === "cut") response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
    else response.end(bytes);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  const registry: ProgramRegistry = {
    url: `http://127.0.0.1:${port}`,
    versions: [],
    fault: "none",
    held: undefined,
    hasNoHashes: false,
    nextDownload: () => once(server, "download"),
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return registry;
}
