// Writes the table of docs/events.md from the catalogue.
import { readFileSync, writeFileSync } from "node:fs";
import { withEventsTable } from "./events-table.js";

const page = "docs/events.md";
writeFileSync(page, withEventsTable(readFileSync(page, "utf8")));
