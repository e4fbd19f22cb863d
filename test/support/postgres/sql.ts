import { loadPackage } from "../../../src/util/packages/load.js";

/** A connection to a PostgreSQL, for what a test does there by itself. */
export interface Sql extends AsyncDisposable {
  rows(text: string, values?: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

interface PgClient {
  connect(): Promise<void>;
  query(text: string, values: readonly unknown[]): Promise<{ readonly rows: Readonly<Record<string, unknown>>[] }>;
  end(): Promise<void>;
  on(event: "error", listener: () => void): void;
}

export async function openSql(connectionString: string): Promise<Sql> {
  // The package comes without types.
  const { default: pg } = (await loadPackage("pg", undefined)) as {
    readonly default: { readonly Client: new (options: object) => PgClient };
  };
  const client = new pg.Client({ connectionString });
  // A server that is killed on purpose must not end the test.
  client.on("error", () => {});
  await client.connect();
  return {
    rows: async (text, values = []) => (await client.query(text, values)).rows,
    [Symbol.asyncDispose]: () => client.end().catch(() => undefined),
  };
}
