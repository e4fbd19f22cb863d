import { createHash } from "node:crypto";
import { InOrder } from "../../util/async/in-order.js";
import { deepFreeze } from "../../util/deep-freeze.js";
import type { Count, Records as RecordView } from "../engine.js";
import { frozenCopy } from "../frozen-copy.js";
import type { Database } from "./sql/database.js";
import type { Statement } from "./sql/statement.js";

/** A record as it is in its row; without a value it was deleted. */
export interface RecordRow {
  readonly kind: string;
  readonly id: string;
  readonly value: string | null;
  readonly version: number;
  readonly position: number;
}

const columns = "kind, id, value, version::float8, position::float8";
const stamp = "version = nextval('@changes'), changed = now(), xid = pg_current_xact_id()";
/** One that was deleted and comes back is the newest. */
const place = "position = CASE WHEN r.value IS NULL THEN nextval('@positions') ELSE r.position END";

const putSql = `INSERT INTO @records AS r (kind, id, value) VALUES ($1, $2, $3)
  ON CONFLICT (kind, id) DO UPDATE SET value = excluded.value, ${place}, ${stamp}`;
const deleteSql = `UPDATE @records r SET value = NULL, ${stamp} WHERE kind = $1 AND id = $2`;
/** The rows are locked in the order given. */
const countSql = (kinds: string, ids: string, added: string): string => `INSERT INTO @records AS r (kind, id, value)
  SELECT kind, id, value FROM unnest(${kinds}::text[], ${ids}::text[], ${added}::text[]) WITH ORDINALITY d (kind, id, value, n) ORDER BY n
  ON CONFLICT (kind, id) DO UPDATE SET ${place}, ${stamp}, value = (
    SELECT coalesce(r.value, '{}')::jsonb || jsonb_object_agg(a.key, a.value::numeric
      + CASE WHEN jsonb_typeof(coalesce(r.value, '{}')::jsonb -> a.key) = 'number'
        THEN (coalesce(r.value, '{}')::jsonb ->> a.key)::numeric ELSE 0 END)
    FROM jsonb_each_text(excluded.value::jsonb) a)::text`;
const returning = `RETURNING ${columns.replaceAll(/(^|, )/g, "$1r.")}`;

interface Held {
  readonly value: unknown;
  readonly version: number;
  readonly position: number;
}

/** The views of records that are open on this node. */
export class Records {
  readonly #database: Database;
  /** Tells the other nodes that a record was changed. */
  readonly #tell: (kind: string, id: string) => void;
  readonly #views = new Map<string, { readonly view: View; readonly filled: Promise<void> }>();
  readonly #reading = new InOrder<string>();

  constructor(database: Database, tell: (kind: string, id: string) => void) {
    this.#database = database;
    this.#tell = tell;
  }

  async open(kind: string): Promise<RecordView> {
    let known = this.#views.get(kind);
    if (known === undefined) {
      const view = new View(kind, (sql, values) => this.#change(sql, values), this.#database);
      const opened = { view, filled: this.#fill(view, kind) };
      known = opened;
      this.#views.set(kind, opened);
      opened.filled.catch(() => this.#views.delete(kind));
    }
    await known.filled;
    return known.view;
  }

  /** Takes over what a look at the database has found. */
  take(rows: readonly RecordRow[]): void {
    for (const row of rows) this.#views.get(recordKindOf(row.kind))?.view.take(row);
  }

  /** Another node has changed a record. */
  async refresh(kind: string, id: string): Promise<void> {
    if (!this.#views.has(kind)) return;
    await this.#reading.run(
      async () =>
        this.take(
          await this.#database.query<RecordRow>(
            `SELECT ${columns} FROM @records WHERE kind = ANY ($1::text[]) AND id = $2`,
            [kindsOf(kind), id],
          ),
        ),
      kind,
    );
  }

  /** Makes a statement add counts of a session. What it gives as `counted` is to be taken. */
  countBy(statement: Statement, sessionKey: string, counts: readonly Count[]): void {
    if (counts.length === 0) return;
    const all = merged(counts);
    const kinds = statement.value(all.map(({ kind }) => slotKind(kind, slotOf(sessionKey))));
    const ids = statement.value(all.map(({ id }) => id));
    const added = statement.value(all.map(({ add }) => JSON.stringify(add)));
    statement.with("counted", `${countSql(kinds, ids, added)} ${returning}`);
    statement.result("counted", "(SELECT json_agg(counted) FROM counted)");
  }

  /** One statement that changes a record. Gives the row, if there is one now. */
  async #change(sql: string, values: readonly unknown[]): Promise<RecordRow | undefined> {
    const [row] = await this.#database.write<RecordRow>(`${sql} ${returning}`, values);
    if (row !== undefined) this.#tell(row.kind, row.id);
    return row;
  }

  async #fill(view: View, kind: string): Promise<void> {
    for (const row of await this.#database.query<RecordRow>(
      `SELECT ${columns} FROM @records WHERE kind = ANY ($1::text[]) AND value IS NOT NULL`,
      [kindsOf(kind)],
    ))
      view.take(row);
  }
}

type ChangeRow = (sql: string, values: readonly unknown[]) => Promise<RecordRow | undefined>;

/** The records of one kind, as this node knows them. */
class View implements RecordView {
  readonly #kind: string;
  readonly #change: ChangeRow;
  readonly #database: Database;
  readonly #rows = new Map<string, Held>();
  /** What is counted of them, by id and slot. */
  readonly #counted = new Map<string, Map<string, Held>>();
  /** With all that is counted, as far as it was asked for. */
  readonly #sums = new Map<string, unknown>();
  /** The nodes compare and set; within one they take turns. */
  readonly #updates = new InOrder<string>();
  #listed: readonly { readonly id: string; readonly value: unknown }[] | undefined;

  constructor(kind: string, change: ChangeRow, database: Database) {
    this.#kind = kind;
    this.#change = change;
    this.#database = database;
  }

  get(id: string): unknown {
    const counted = this.#counted.get(id);
    if (counted === undefined) return this.#rows.get(id)?.value;
    if (!this.#sums.has(id)) {
      const values = [this.#rows.get(id), ...counted.values()].map((held) => held?.value);
      this.#sums.set(id, deepFreeze(values.reduce(sumOf, undefined)));
    }
    return this.#sums.get(id);
  }

  list(): readonly { readonly id: string; readonly value: unknown }[] {
    this.#listed ??= [...new Set([...this.#rows.keys(), ...this.#counted.keys()])]
      .map((id) => ({ id, value: this.get(id), position: this.#positionOf(id) }))
      .filter(({ value }) => value !== undefined)
      .sort((a, b) => a.position - b.position)
      .map(({ id, value }) => ({ id, value }));
    return [...this.#listed];
  }

  async put(id: string, value: unknown): Promise<void> {
    await this.#gather(id);
    this.take(await this.#change(putSql, [this.#kind, id, this.#textOf(id, value)]));
  }

  async delete(id: string): Promise<void> {
    await this.#gather(id);
    this.take(await this.#change(`${deleteSql} AND value IS NOT NULL`, [this.#kind, id]));
  }

  async update(id: string, change: (value: unknown) => unknown): Promise<unknown> {
    return await this.#updates.run(() => this.#update(id, change), id);
  }

  take(row: RecordRow | undefined): void {
    if (row === undefined) return;
    const [rows, name] = row.kind === this.#kind ? [this.#rows, row.id] : [this.#countedOf(row.id), row.kind];
    if ((rows.get(name)?.version ?? -1) >= row.version) return;
    const { value, version, position } = row;
    // What was deleted is remembered, so that an older look does not bring it back.
    rows.set(name, { value: value === null ? undefined : deepFreeze(JSON.parse(value)), version, position });
    this.#sums.delete(row.id);
    this.#listed = undefined;
  }

  #countedOf(id: string): Map<string, Held> {
    const counted = this.#counted.get(id) ?? new Map<string, Held>();
    this.#counted.set(id, counted);
    return counted;
  }

  #positionOf(id: string): number {
    const all = [this.#rows.get(id), ...(this.#counted.get(id)?.values() ?? [])];
    return Math.min(...all.flatMap((held) => (held?.value === undefined ? [] : [held.position])));
  }

  /** Brings what was counted so far into the record itself. What is counted from now on counts on top of it. */
  async #gather(id: string): Promise<void> {
    if (![...(this.#counted.get(id)?.values() ?? [])].some(({ value }) => value !== undefined)) return;
    const rows = await this.#database.transaction(async (tx) => {
      const found = await tx.query<RecordRow>(
        `SELECT ${columns} FROM @records WHERE kind = ANY ($1::text[]) AND id = $2 ORDER BY kind FOR UPDATE`,
        [kindsOf(this.#kind), id],
      );
      const own = found.find(({ kind }) => kind === this.#kind);
      const values = [own, ...found.filter((row) => row !== own)].map(
        (row) => JSON.parse(row?.value ?? "null") ?? undefined,
      );
      const slots = await tx.query<RecordRow>(
        `UPDATE @records r SET value = NULL, ${stamp} WHERE kind = ANY ($1::text[]) AND kind <> $2 AND id = $3 ${returning}`,
        [kindsOf(this.#kind), this.#kind, id],
      );
      const sum = values.reduce(sumOf, undefined);
      if (sum === undefined) return slots;
      return [
        ...slots,
        ...(await tx.query<RecordRow>(`${putSql} ${returning}`, [this.#kind, id, JSON.stringify(sum)])),
      ];
    });
    for (const row of rows) this.take(row);
  }

  async #update(id: string, change: (value: unknown) => unknown): Promise<unknown> {
    await this.#gather(id);
    for (;;) {
      const before = this.#rows.get(id);
      const after = change(before?.value);
      const row = await this.#set(id, before, after);
      this.take(row);
      if (row !== undefined || (after === undefined && before === undefined && (await this.#isAbsent(id))))
        return after === undefined ? undefined : this.get(id);
      await this.#read(id);
    }
  }

  /** Writes it if nobody has written since `before` was read. Undefined: somebody has, or there is nothing to write. */
  async #set(id: string, before: Held | undefined, after: unknown): Promise<RecordRow | undefined> {
    if (after === before?.value) return before === undefined ? undefined : await this.#same(id, before);
    const values = [this.#kind, id];
    if (before === undefined)
      return await this.#change(
        "INSERT INTO @records AS r (kind, id, value) VALUES ($1, $2, $3) ON CONFLICT (kind, id) DO NOTHING",
        [...values, this.#textOf(id, after)],
      );
    if (after === undefined) return await this.#change(`${deleteSql} AND version = $3`, [...values, before.version]);
    return await this.#change(
      `UPDATE @records r SET value = $3, ${place}, ${stamp} WHERE kind = $1 AND id = $2 AND version = $4`,
      [...values, this.#textOf(id, after), before.version],
    );
  }

  async #same(id: string, before: Held): Promise<RecordRow | undefined> {
    const [row] = await this.#database.query<RecordRow>(
      `SELECT ${columns} FROM @records WHERE kind = $1 AND id = $2 AND version = $3`,
      [this.#kind, id, before.version],
    );
    return row;
  }

  async #isAbsent(id: string): Promise<boolean> {
    await this.#read(id);
    return this.#rows.get(id) === undefined;
  }

  async #read(id: string): Promise<void> {
    const sql = `SELECT ${columns} FROM @records WHERE kind = $1 AND id = $2`;
    const [row] = await this.#database.query<RecordRow>(sql, [this.#kind, id]);
    if (row === undefined) this.#rows.delete(id);
    else this.take(row);
  }

  #textOf(id: string, value: unknown): string {
    const copy = frozenCopy(value);
    if (copy === undefined) throw new TypeError(`The record ${this.#kind}/${id} must be JSON`);
    return JSON.stringify(copy);
  }
}

/** What many sessions count in one record, as the tokens of a day, is counted in so many rows: a row is locked until its transaction is stored. */
const slots = 16;

function slotOf(sessionKey: string): number {
  return createHash("sha256").update(sessionKey).digest().readUInt8(0) % slots;
}

/** The kind of the row in which a slot counts. Kinds of records have no line breaks. */
function slotKind(kind: string, slot: number): string {
  return `${kind}\n${slot}`;
}

/** The kind of the record that a row belongs to. */
export function recordKindOf(kind: string): string {
  return kind.split("\n", 1)[0] ?? kind;
}

function kindsOf(kind: string): readonly string[] {
  return [kind, ...Array.from({ length: slots }, (_, slot) => slotKind(kind, slot))];
}

/** A record's value with what is counted in one more row of it. */
export function sumOf(value: unknown, counted: unknown): unknown {
  if (value === undefined || counted === undefined) return counted ?? value;
  if (typeof value !== "object" || typeof counted !== "object" || value === null || counted === null) return value;
  const before = new Map<string, unknown>(Object.entries(value));
  const added = Object.entries(counted).map(([key, number]) => {
    const there = before.get(key);
    return [key, typeof there === "number" && typeof number === "number" ? there + number : number];
  });
  return { ...value, ...Object.fromEntries(added) };
}

/** One for each record, in an order that all transactions keep to, so that none waits for another that waits for it. */
function merged(counts: readonly Count[]): readonly Count[] {
  const sums = new Map<string, { readonly kind: string; readonly id: string; readonly add: Record<string, number> }>();
  for (const { kind, id, add } of counts) {
    const name = `${kind}\n${id}`;
    const sum = sums.get(name) ?? { kind, id, add: {} };
    for (const [key, number] of Object.entries(add)) sum.add[key] = (sum.add[key] ?? 0) + number;
    sums.set(name, sum);
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}
