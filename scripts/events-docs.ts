// Writes what docs/ holds of the catalogue: the tables of docs/events.md, and docs/events.schema.generated.json.
import { readFileSync, writeFileSync } from "node:fs";
import { eventsSchemaText } from "./events-schema.js";
import { eventsTable, withPart } from "./events-table.js";
import { waitingTable } from "./events-waiting.js";

const page = "docs/events.md";
const table = withPart(readFileSync(page, "utf8"), "table", eventsTable());
writeFileSync(page, withPart(table, "waiting", waitingTable()));
writeFileSync("docs/events.schema.generated.json", eventsSchemaText());
process.stdout.write(waitingTable());
