import assert from "node:assert/strict";
import { test } from "node:test";
import { findingIn } from "../../../src/config/settle.js";
import { problemSentence } from "../../../src/util/words/problem-sentences.js";
import { loadOwnWords, problemText } from "../../../src/web/failures/said.js";
import { sayStatus } from "../../../src/web/failures/status.js";

test("a sentence within a sentence is said in Chinese, too", async () => {
  const off = problemSentence("part_off", {
    reason: problemSentence("channel_lacks", { name: "qq", missing: "appId" }),
    part: "channels.qq",
  });
  assert.equal(sayStatus(off), "channels.qq 已开启，但缺少 appId；channels.qq 已关闭");
  assert.equal(problemText(off), off, "on the English page");
  Object.assign(globalThis, { document: { documentElement: { lang: "zh" } } });
  try {
    await loadOwnWords();
    assert.equal(problemText(off), sayStatus(off));
    assert.equal(problemText("Something else."), "Something else.");
    // A further account's sentence is its platform's, with its own name.
    const ofDiscord = "Discord cannot be reached: what answers there is not Discord. Check channels.discord.apiRoot.";
    const ofAccount = ofDiscord.replace("channels.discord", "channels.discord-two");
    assert.match(problemText(ofDiscord), /channels\.discord\.apiRoot/);
    assert.notEqual(problemText(ofDiscord), ofDiscord);
    assert.equal(problemText(ofAccount), problemText(ofDiscord).replace("channels.discord", "channels.discord-two"));
  } finally {
    Reflect.deleteProperty(globalThis, "document");
  }
});

test("for who refuses a config, what is done about a mistake is left out", () => {
  const reason = problemSentence("expected", { key: "a", wanted: "b", found: "c" });
  for (const code of ["default_used", "part_off", "rules_closed", "not_started"] as const)
    assert.equal(findingIn(problemSentence(code, { reason, part: "a" })), reason);
  assert.equal(findingIn(problemSentence("unknown_ignored", { key: "x" })), 'unknown key "x"');
  assert.equal(
    findingIn(problemSentence("unknown_meant", { key: "x", near: "y" })),
    'unknown key "x"; did you mean "y"?',
  );
  assert.equal(findingIn("something else"), "something else");
});
