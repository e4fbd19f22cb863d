// Prints the table of docs/cluster.md: a million chats on so many cells. `--write` puts it there.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cellsTable, withTable } from "./cells.js";

const table = cellsTable();
if (process.argv.includes("--write")) {
  const page = join(import.meta.dirname, "../../../docs/cluster.md");
  writeFileSync(page, withTable(readFileSync(page, "utf8"), table));
} else console.log(table);
