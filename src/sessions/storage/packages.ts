import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Driver } from "unstorage";
import { z } from "zod";
import { ConfigError, messageOf } from "../../errors.js";
import { isNotInstalled } from "../../util/not-installed.js";
import { ownPackage } from "../../util/package-folder.js";
import { loadPackage } from "../../util/packages/load.js";
import { packageOptions } from "../../util/packages/options.js";

export interface StorageSettings {
  readonly driver: string;
  /** As unstorage's driver takes them; for `db0` with `connector`, and the rest for the connector. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Makes a driver with a connection of its own. */
export type OpenDriver = () => Promise<Driver>;

/** What `maxclaw add` brings for a driver, and for a connector of the driver db0. */
const driverOptions: Readonly<Record<string, string>> = { redis: "storage-redis", db0: "storage-sqlite" };
const connectorOptions: Readonly<Record<string, string>> = {
  postgresql: "storage-postgres",
  mysql2: "storage-mysql",
  libsql: "storage-libsql",
};

const isFunction = (value: unknown): boolean => typeof value === "function";
const names = z.record(z.string(), z.string());
const unstorageModule = z.object({ builtinDrivers: names });
const driverModule = z.object({ default: z.custom<(options: object) => Driver>(isFunction) });
const db0Module = z.object({
  connectors: names,
  connectorDependencies: z
    .record(z.string(), z.object({ lib: z.object({ name: z.string(), import: z.string().optional() }).optional() }))
    .default({}),
  createDatabase: z.custom<(connector: object) => Database>(isFunction),
});
const connectorModule = z.object({ default: z.custom<(options: object) => object>(isFunction) });

interface Database {
  getInstance(): Promise<unknown>;
  dispose(): Promise<void>;
}

interface Client {
  /** Without a listener for what happens between two calls, a connection that is lost would end the process. */
  on(event: "error", listener: (error: unknown) => void): void;
}
interface RedisClient extends Client {
  readonly status: string;
  connect(): Promise<void>;
}
const has = (value: unknown, name: string): boolean =>
  typeof value === "object" && value !== null && name in value && isFunction(Reflect.get(value, name));
const client = z.custom<Client>((value) => has(value, "on"));
const redisClient = z.custom<RedisClient>((value) => has(value, "on") && has(value, "connect"));

const postgresModule = z.object({
  default: z.object({ Client: z.custom<new (...options: unknown[]) => Client>(isFunction) }),
});

/** The names of unstorage's drivers. @throws {ConfigError} it is not installed */
export async function unstorageDrivers(settings: StorageSettings, home?: string): Promise<readonly string[]> {
  const { builtinDrivers } = await loaderFor(settings, home)("unstorage", unstorageModule, everyOther);
  return Object.keys(builtinDrivers);
}

const everyOther = "every driver besides file and memory";

/**
 * Loads all packages that a driver needs, from beside the program or from the home. Connects to nothing yet.
 *
 * @throws {ConfigError} a package is missing, or the driver does not know what the options say; told with what to do
 */
export async function loadDriver(settings: StorageSettings, home?: string): Promise<OpenDriver> {
  const { driver, options } = settings;
  const load = loaderFor(settings, home);
  const { builtinDrivers } = await load("unstorage", unstorageModule, everyOther);
  const specifier = builtinDrivers[driver];
  if (specifier === undefined) throw new ConfigError(`there is no driver "${driver}"`);
  const { default: create } = await load(specifier, driverModule, `the driver ${driver}`);
  if (driver === "db0") return await loadSqlDriver(create, options, load);
  if (driver === "redis") return () => openRedis(create, options);
  return async () => create({ ...options });
}

/**
 * A new connection is made after a failure, so that the client needs no attempts of its own, and tells at once why there
 * is none.
 */
async function openRedis(create: (options: object) => Driver, options: object): Promise<Driver> {
  const driver = create({ scanCount: 1000, lazyConnect: true, retryStrategy: () => null, ...options });
  const { data: redis } = redisClient.safeParse(driver.getInstance?.());
  let failure: unknown;
  // Without a listener it writes to the console.
  redis?.on("error", (error) => {
    failure = error;
  });
  if (redis?.status !== "wait") return driver;
  try {
    await redis.connect();
  } catch (error) {
    throw failure ?? error;
  }
  return driver;
}

/** How each client calls the time limit for connecting, in milliseconds. */
const connectLimits: Readonly<Record<string, object>> = {
  postgresql: { connectionTimeoutMillis: 5000 },
  mysql2: { connectTimeout: 5000 },
};

async function loadSqlDriver(
  create: (options: object) => Driver,
  { connector, tableName = "maxclaw", ...options }: StorageSettings["options"],
  load: Load,
): Promise<OpenDriver> {
  const { connectors, connectorDependencies, createDatabase } = await load("db0", db0Module, "the driver db0");
  const name = String(connector);
  const specifier = connectors[name];
  if (specifier === undefined)
    throw new ConfigError(
      `storage.options.connector must be one of ${Object.keys(connectors).join(", ")} for the driver db0`,
    );
  const { default: connect } = await load(specifier, connectorModule, `the connector ${name}`);
  const wanted = connectorDependencies[name]?.lib;
  // Otherwise it would be missed at the first query only.
  const module =
    wanted === undefined ? undefined : await load(wanted.import ?? wanted.name, z.unknown(), `the connector ${name}`);
  const lib = name === "postgresql" ? watchedPostgres(module) : undefined;
  // One line on the console that the driver is experimental: a contract suite holds what is used of it here.
  Reflect.set(globalThis, "__unstorage_db0_experimental_warning__", true);
  return async () => {
    const database = createDatabase(connect({ ...connectLimits[name], ...options, ...(lib && { lib }) }));
    client.safeParse(await database.getInstance()).data?.on("error", () => {});
    return { ...create({ database, tableName }), dispose: () => database.dispose() };
  };
}

/**
 * The client of PostgreSQL, with a listener from its first moment on: a server that ends right after it has let us in
 * would end this process, too.
 */
function watchedPostgres(module: unknown): object {
  const { Client: Plain } = postgresModule.parse(module).default;
  return {
    Client: class extends Plain {
      constructor(...options: unknown[]) {
        super(...options);
        this.on("error", () => {});
      }
    },
  };
}

type Load = <T>(specifier: string, shape: z.ZodType<T>, user: string) => Promise<T>;

/** Imports what the config and the tables of unstorage and db0 name. */
function loaderFor(settings: StorageSettings, home: string | undefined): Load {
  return async (specifier, shape, user) => {
    let module: unknown;
    try {
      module = await loadPackage(specifier, home);
    } catch (error) {
      const missing = missingPackage(error);
      if (missing === undefined) throw error;
      const command = installCommand(missing, settings);
      throw new ConfigError(`${user} needs the package ${missing}: install it with "${command}"`, { cause: error });
    }
    const parsed = shape.safeParse(module);
    if (parsed.success) return parsed.data;
    throw new ConfigError(`${specifier} is of a version that does not fit`, { cause: parsed.error });
  };
}

function missingPackage(error: unknown): string | undefined {
  if (!isNotInstalled(error)) return undefined;
  return /Cannot find package '((?:@[^/']+\/)?[^/']+)/.exec(messageOf(error))?.[1];
}

function installCommand(missing: string, { driver, options: { connector } }: StorageSettings): string {
  const ofDriver = driver === "db0" ? connectorOptions[String(connector)] : undefined;
  const option = ofDriver ?? driverOptions[driver] ?? "storage";
  if (packageOptions[option]?.packages.includes(missing)) return `maxclaw add ${option}`;
  // A package finds only what is installed beside it.
  return besideProgram(["unstorage@1.17", ...(driver === "db0" ? ["db0@0.4"] : []), missing].join(" "));
}

/** For the place where this program is: its own checkout, a project that uses it, or npm's global folder. */
function besideProgram(wanted: string): string {
  const { folder } = ownPackage();
  const parent = dirname(folder);
  if (basename(parent) !== "node_modules") return `npm install --no-save --prefix ${folder} ${wanted}`;
  const owner = dirname(parent);
  return existsSync(join(owner, "package.json"))
    ? `npm install --prefix ${owner} ${wanted}`
    : `npm install -g ${wanted}`;
}
