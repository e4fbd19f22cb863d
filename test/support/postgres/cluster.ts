import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type StorageServer, startServer } from "../fakes/storage-servers.js";

/** A PostgreSQL for the gateways of a test file; each cluster has a schema of its own in it. */
export interface ClusterWorld extends AsyncDisposable {
  readonly server: StorageServer;
  readonly url: string;
  /** What the nodes of a new cluster have in their configs. */
  cluster(): Promise<Cluster>;
}

export interface Cluster {
  readonly schema: string;
  /** Shared by the nodes. */
  readonly workspace: string;
  /** A new home for one more node. */
  home(): Promise<string>;
  /** The sections of the config that make a gateway a node of this cluster. */
  readonly config: {
    readonly engine: { readonly kind: "postgres"; readonly url: string; readonly schema: string };
  };
}

export async function startClusterWorld(
  more: readonly string[] = ["-c", "max_connections=100"],
): Promise<ClusterWorld> {
  const server = await startServer("postgres", more);
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-cluster-"));
  const url = `postgresql://maxclaw@127.0.0.1:${server.port}/postgres`;
  let clusters = 0;
  return {
    server,
    url,
    async cluster() {
      clusters += 1;
      const schema = `cluster_${clusters}`;
      const root = await mkdtemp(join(folder, `${schema}-`));
      return {
        schema,
        workspace: join(root, "workspace"),
        home: () => mkdtemp(join(root, "home-")),
        config: { engine: { kind: "postgres", url, schema } },
      };
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
