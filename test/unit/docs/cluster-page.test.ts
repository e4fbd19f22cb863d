import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assumed, cellOf, cellsTable, playCell, spreadOf, tableIn } from "../../../scripts/cluster/cells.js";
import { projectFile } from "../../support/project.js";

test("the table of docs/cluster.md is what the simulation says", () => {
  const page = readFileSync(projectFile("docs/cluster.md"), "utf8");
  assert.equal(tableIn(page), cellsTable());
});

test("cells are about equally full, and only what a new cell gets moves", () => {
  for (const cells of [5, 20]) {
    const { fullest, moves } = spreadOf(cells, 20_000);
    assert.ok(fullest < 1.1, `${fullest}`);
    assert.ok(Math.abs(moves - 1 / (cells + 1)) < 0.01, `${moves}`);
  }
  for (let n = 0; n < 2000; n += 1) {
    const [before, later] = [cellOf(`telegram:${n}`, 7), cellOf(`telegram:${n}`, 8)];
    assert.ok(later === before || later === 7, `${n}: from ${before} to ${later}`);
  }
});

test("too few gateways make people wait, and a kill cuts the turns of one", () => {
  const plan = { messagesPerSecond: 8, chats: 2000, seconds: 120 };
  const enough = playCell({ ...plan, gateways: 4, isOneKilled: false }, assumed);
  const few = playCell({ ...plan, gateways: 1, isOneKilled: false }, assumed);
  assert.ok(enough.p99 === 0 && few.median > 10, `${enough.p99} ${few.median}`);
  const { interrupted } = playCell({ ...plan, gateways: 2, isOneKilled: true }, assumed);
  assert.ok(interrupted > 0 && interrupted <= assumed.turnsPerGateway, `${interrupted}`);
});
