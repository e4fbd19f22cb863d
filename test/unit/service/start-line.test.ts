import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { startLine } from "../../../src/service/start-line.js";

test("the line for cron names everything in full, and the shell reads it as it is meant", () => {
  assert.equal(startLine({}, "/opt/maxclaw.js"), `${process.execPath} /opt/maxclaw.js gateway`);
  assert.equal(startLine({ MAXCLAW_HOME: "/srv/home" }, undefined), "MAXCLAW_HOME=/srv/home maxclaw gateway");
  const odd = '/srv/Ada\'s 100% "$HOME"';
  const line = startLine({ MAXCLAW_HOME: odd }, "/nowhere.js");
  assert.doesNotMatch(line, /(?<!\\)%/);
  // As cron hands it over.
  const command = line.replaceAll("\\%", "%").replace(/ \S+ \S+ gateway$/, " sh -c 'printf %s \"$MAXCLAW_HOME\"'");
  assert.equal(spawnSync("sh", ["-c", command], { encoding: "utf8" }).stdout, odd);
});
