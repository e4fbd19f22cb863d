/** What is too heavy, and too rarely wanted, to be part of the program, by the name that `maxclaw add` takes. */
export const packageOptions: Readonly<Record<string, PackageOption>> = {
  browser: {
    packages: ["playwright-core"],
    about: "the browser tool. It uses the Chromium or Chrome of this machine",
  },
  "matrix-crypto": {
    packages: ["@matrix-org/matrix-sdk-crypto-wasm", "fake-indexeddb"],
    about: "encrypted rooms on Matrix (channels.matrix.encryption)",
  },
  pdf: { packages: ["pdfjs-dist"], about: "reading PDF files" },
  storage: {
    packages: ["unstorage"],
    about: "session documents in a storage that needs no client, such as fs or http",
  },
  "storage-redis": { packages: ["unstorage", "ioredis"], about: "session documents in Redis" },
  "storage-postgres": { packages: ["unstorage", "db0", "pg"], about: "session documents in PostgreSQL" },
  "storage-mysql": { packages: ["unstorage", "db0", "mysql2"], about: "session documents in MySQL or MariaDB" },
  "storage-sqlite": { packages: ["unstorage", "db0"], about: "session documents in the SQLite of Node 22.13 or newer" },
  postgres: {
    packages: ["pg", "pg-boss"],
    about: "several gateways that work together on one PostgreSQL (engine.kind postgres)",
    node: [22, 12],
  },
  "storage-libsql": { packages: ["unstorage", "db0", "@libsql/client"], about: "session documents in libSQL" },
};

export interface PackageOption {
  readonly packages: readonly string[];
  /** Completes "for …". */
  readonly about: string;
  /** The oldest Node that its packages run on, where that is newer than what the program needs. */
  readonly node?: readonly [major: number, minor: number];
}

/** Why this Node is too old for an option, as a sentence; undefined when it is not. */
export function whyNodeTooOld(
  { node }: Pick<PackageOption, "node">,
  version = process.versions.node,
): string | undefined {
  if (node === undefined) return undefined;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > node[0] || (major === node[0] && minor >= node[1])) return undefined;
  return `It needs Node ${node.join(".")} or newer, and this is Node ${version}. Install Node 24 (LTS).`;
}
