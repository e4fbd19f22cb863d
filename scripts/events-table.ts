import { z } from "zod";
import { catalogue, type EventType, specOf } from "../src/events/catalogue.js";

/** A JSON schema, as far as the table reads it. */
interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

// The keys of the catalogue are the event types, which Object.keys does not tell.
export const eventTypes = Object.keys(catalogue) as readonly EventType[];

/** The JSON schema of one type's payload. */
export function payloadSchema(type: EventType): Schema {
  // What zod gives is a JSON schema of an object; only the keywords above are read from it.
  return z.toJSONSchema(specOf(type).payload) as Schema;
}

/** The catalogue as a markdown table, one row for each type, numbered. */
export function eventsTable(): string {
  const rows = eventTypes.map((type, index) => {
    const { layer, stored, detail, terminal, goesTo } = specOf(type);
    const kept = !stored ? "no" : detail ? "yes (detail)" : terminal ? "yes, terminal" : "yes";
    return `| ${index + 1} | \`${type}\` | ${layer} | ${kept} | ${goesTo} | ${fieldsOf(payloadSchema(type))} |`;
  });
  return ["| # | type | layer | stored | goes to | payload |", "|---|---|---|---|---|---|", ...rows, ""].join("\n");
}

function fieldsOf(schema: Schema): string {
  return Object.entries(schema.properties ?? {})
    .map(([name, field]) => `${name}${schema.required?.includes(name) ? "" : "?"}${detailOf(field)}`)
    .join(", ");
}

function detailOf(schema: Schema): string {
  if (schema.enum !== undefined) return ` (${schema.enum.join(", ")})`;
  if (schema.type === "array") return `[]${schema.items === undefined ? "" : detailOf(schema.items)}`;
  const isPlainObject = schema.type === "object" && Object.keys(schema.properties ?? {}).length > 0;
  return isPlainObject ? `{${fieldsOf(schema)}}` : "";
}

const command = "(node dist/scripts/events-docs.js)";

/** Where the part between the marks of this name is on a page. */
function placeOf(page: string, name: string): readonly [from: number, to: number] {
  const begin = `<!-- ${name}: begin ${command} -->\n`;
  const from = page.indexOf(begin);
  const to = page.indexOf(`<!-- ${name}: end -->`);
  if (from === -1 || to < from) throw new Error(`The page must hold the marks of ${name}`);
  return [from + begin.length, to];
}

/** What is between the marks of this name. */
export function partOf(page: string, name: string): string {
  return page.slice(...placeOf(page, name));
}

/** The page with the part between these marks made again. */
export function withPart(page: string, name: string, made: string): string {
  const [from, to] = placeOf(page, name);
  return page.slice(0, from) + made + page.slice(to);
}

/** The table's cells, row by row, however it is padded. */
export function cellsOf(page: string): readonly (readonly string[])[] {
  return page
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^[|\s-]+$/.test(line))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
