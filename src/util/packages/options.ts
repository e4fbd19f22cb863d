/** What is too heavy, and too rarely wanted, to be part of the program, by the name that `maxclaw add` takes. */
export const packageOptions: Readonly<Record<string, PackageOption>> = {
  browser: {
    packages: ["playwright-core"],
    about: "the browser tool. It uses the Chromium or Chrome of this machine",
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
  "storage-libsql": { packages: ["unstorage", "db0", "@libsql/client"], about: "session documents in libSQL" },
};

export interface PackageOption {
  readonly packages: readonly string[];
  /** Completes "for …". */
  readonly about: string;
}
