import { deserialize, serialize } from "node:v8";
import { z } from "zod";
import type { ChannelRecords } from "../../channel.js";
import type { Write } from "./recording.js";

const shape = z.object({
  name: z.string(),
  keyPath: z.union([z.string(), z.array(z.string()), z.null()]),
  autoIncrement: z.boolean(),
  indexes: z.array(
    z.object({
      name: z.string(),
      keyPath: z.union([z.string(), z.array(z.string())]),
      unique: z.boolean(),
      multiEntry: z.boolean(),
    }),
  ),
});

/** A database without what is in it. */
const form = z.object({ version: z.number(), stores: z.array(shape) });
export type DbForm = z.output<typeof form>;

const head = z.object({ epoch: z.number(), form });
const frame = z.object({ epoch: z.number(), writes: z.string() });

/** How many bytes of writes are kept in one record, where they are many. */
const frameBytes = 128 * 1024;

/**
 * The writes of a database as records, in order: the writes of one append are there as a whole or not at all. A new epoch begins
 * with all that is in the database, and takes the place of the one before it in one step.
 */
export class WriteLog {
  readonly #prefix: string;
  readonly #records: ChannelRecords;
  #epoch = 0;
  #form: DbForm | undefined;
  #next = 0;
  /** Bytes of writes since the epoch began, and of those that it began with. */
  #grown = 0;
  #base = 0;

  constructor(prefix: string, records: ChannelRecords) {
    this.#prefix = prefix;
    this.#records = records;
  }

  /** Undefined: nothing was kept yet. */
  get form(): DbForm | undefined {
    return this.#form;
  }

  /** Most of what is kept has been overwritten since. */
  get isLong(): boolean {
    return this.#grown > 1024 * 1024 + 2 * this.#base;
  }

  /** All writes that were kept, in order. Also deletes what a death has left over. */
  async read(): Promise<readonly Write[]> {
    const { data } = head.safeParse(this.#records.get(`${this.#prefix}head`));
    this.#epoch = data?.epoch ?? 0;
    this.#form = data?.form;
    const all = this.#frames();
    this.#next = (all.at(-1)?.nth ?? -1) + 1;
    const valid = all.filter(({ epoch }) => epoch === this.#epoch);
    for (const { id, epoch } of all) if (epoch !== this.#epoch) await this.#records.delete(id);
    this.#base = valid.reduce((sum, { writes }) => sum + writes.length, 0);
    return valid.flatMap(({ writes }) => decode(writes));
  }

  /** Resolves once it is durable. */
  async append(writes: readonly Write[]): Promise<void> {
    this.#grown += await this.#put(this.#epoch, writes);
  }

  /** Begins again with what is in the database now. */
  async restart(dbForm: DbForm, writes: readonly Write[]): Promise<void> {
    const old = this.#frames();
    const epoch = this.#epoch + 1;
    let bytes = 0;
    for (const some of inFrames(writes)) bytes += await this.#put(epoch, some);
    await this.#records.put(`${this.#prefix}head`, { epoch, form: dbForm });
    this.#epoch = epoch;
    this.#form = dbForm;
    this.#base = bytes;
    this.#grown = 0;
    for (const { id } of old) await this.#records.delete(id);
  }

  async #put(epoch: number, writes: readonly Write[]): Promise<number> {
    const encoded = serialize(writes).toString("base64");
    const nth = this.#next;
    this.#next += 1;
    await this.#records.put(`${this.#prefix}log/${nth}`, { epoch, writes: encoded });
    return encoded.length;
  }

  #frames() {
    const begin = `${this.#prefix}log/`;
    return this.#records
      .list()
      .flatMap(({ id, value }) => {
        const { data } = frame.safeParse(value);
        return data === undefined || !id.startsWith(begin)
          ? []
          : [{ id, nth: Number(id.slice(begin.length)), ...data }];
      })
      .sort((a, b) => a.nth - b.nth);
  }
}

function decode(writes: string): readonly Write[] {
  // Ours: nobody else writes the records of this channel.
  return deserialize(Buffer.from(writes, "base64")) as readonly Write[];
}

/** So many writes at a time that a record stays small. */
function* inFrames(writes: readonly Write[]): Generator<readonly Write[]> {
  let some: Write[] = [];
  let bytes = 0;
  for (const write of writes) {
    some.push(write);
    bytes += serialize(write).length;
    if (bytes < frameBytes) continue;
    yield some;
    some = [];
    bytes = 0;
  }
  if (some.length > 0) yield some;
}
