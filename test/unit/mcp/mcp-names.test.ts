import assert from "node:assert/strict";
import { test } from "node:test";
import { toolNames } from "../../../src/mcp/tools/names.js";
import { createLineReader } from "../../../src/mcp/transport/lines.js";

const named = (server: string, ...tools: string[]) => toolNames(tools.map((tool) => ({ server, tool })));

test("a tool's name is made of its server's and its own", () => {
  assert.deepEqual(named("files", "read_file", "list-dir", "Get.User"), [
    "mcp_files_read_file",
    "mcp_files_list_dir",
    "mcp_files_get_user",
  ]);
});

test("long, odd and ambiguous names stay apart, fit, and do not depend on what else there is", () => {
  const odd = ["get-sum", "get_sum", "搜索", "翻译", "a b", "a/b", "x".repeat(100), `${"x".repeat(99)}y`, ""];
  const names = named("My Server", ...odd);
  assert.equal(new Set(names).size, odd.length);
  for (const name of names) assert.match(name, /^mcp_[a-z0-9_]{1,60}$/);
  assert.deepEqual(named("My Server", ...[...odd].reverse()).toReversed(), names);
  assert.deepEqual(named("My Server", "搜索"), [names[2]]);
  const [one, other] = toolNames([
    { server: "a", tool: "b_c" },
    { server: "a_b", tool: "c" },
  ]);
  assert.notEqual(one, other);
});

test("lines are put together from any pieces, and one that is too long is never held", () => {
  const lines: string[] = [];
  let tooLong = 0;
  const read = createLineReader(
    10,
    (line) => lines.push(line),
    () => (tooLong += 1),
  );
  for (const piece of ["ab", "c\nde", "f\r\n\n", "hé".slice(0, 1)]) read(Buffer.from(piece));
  read(Buffer.from("é\n").subarray(0, 1));
  read(Buffer.from("é\n").subarray(1));
  assert.deepEqual(lines, ["abc", "def", "", "hé"]);
  read(Buffer.from("0123456789"));
  read(Buffer.from("0"));
  read(Buffer.from("\nnever\n"));
  assert.deepEqual([lines.length, tooLong], [4, 1]);
});
