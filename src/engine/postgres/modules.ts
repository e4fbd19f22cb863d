/** What of the package `pg` is used. */
export interface PgModule {
  readonly Pool: new (options: object) => PgPool;
  readonly Client: new (options: object) => PgClient;
}

interface PgResult {
  readonly rows: readonly Record<string, unknown>[];
}

interface PgStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** What a connection has parsed under a name is not parsed again there. */
  readonly name?: string;
}

export interface PgClient {
  connect(): Promise<unknown>;
  /** Of its process there, as the one says it that answers the address. */
  readonly processID: number | null;
  query(statement: string | PgStatement, values?: readonly unknown[]): Promise<PgResult>;
  end(): Promise<void>;
  on(event: "error" | "end", listener: (error?: Error) => void): unknown;
  on(event: "notification", listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  removeListener(event: "error", listener: (error?: Error) => void): unknown;
}

export interface PgPool {
  query(statement: string | PgStatement, values?: readonly unknown[]): Promise<PgResult>;
  connect(): Promise<PooledClient>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
}

interface PooledClient extends PgClient {
  /** With true the connection is closed, not used again. */
  release(destroy?: boolean): void;
}

/** Runs statements for pg-boss, inside of our transaction where it is one's. */
export interface BossDb {
  executeSql(text: string, values?: readonly unknown[]): Promise<PgResult>;
}

/** One claim of a job: the fence of everything that an attempt writes. */
export interface JobAttempt {
  readonly id: string;
  readonly retryCount: number;
}

interface Settled {
  readonly affected: number;
  readonly settled?: readonly string[] | undefined;
}

interface InTransaction {
  readonly db?: BossDb;
}

interface JobInsert {
  readonly id: string;
  readonly singletonKey: string;
  readonly priority: number;
}

/** What of pg-boss is used. */
export interface Boss {
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean; readonly close: boolean }): Promise<void>;
  on(event: "error" | "warning", listener: (about: { readonly message: string }) => void): unknown;
  createQueue(name: string, options: object): Promise<void>;
  getQueue(name: string): Promise<unknown>;
  insert(name: string, jobs: readonly JobInsert[], options: InTransaction): Promise<unknown>;
  fetch(
    name: string,
    options: InTransaction & { readonly batchSize: number; readonly includeMetadata: true },
  ): Promise<unknown>;
  touch(name: string, attempts: readonly JobAttempt[]): Promise<Settled>;
  fail(name: string, attempt: JobAttempt, data: null, options: InTransaction): Promise<Settled>;
  deleteJob(name: string, ids: readonly string[], options: InTransaction): Promise<unknown>;
  update(
    name: string,
    data: undefined,
    options: InTransaction & { readonly id: string; readonly startAfter: string },
  ): Promise<unknown>;
  supervise(): Promise<void>;
}

export interface BossModule {
  readonly PgBoss: new (options: object) => Boss;
}
