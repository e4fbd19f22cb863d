import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { harnesses } from "../faults/harnesses.js";
import { measureFaults } from "../faults/measure.js";
import { linesOf, toFaultTable } from "../faults/table.js";
import { projectFile } from "../support/project.js";

for (const openHarness of harnesses)
  test(`what faults cost is what docs/reliability.md says: ${openHarness.name}`, async () => {
    const rows = await measureFaults(openHarness);
    const [{ channel = "" } = {}] = rows;
    const measured = toFaultTable(rows)
      .split("\n")
      .slice(2)
      .map((line) => line.replace(/ +/g, " "));
    assert.deepEqual(measured, linesOf(await readFile(projectFile("docs/reliability.md"), "utf8"), channel));
  });
