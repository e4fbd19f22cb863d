import { test } from "node:test";
import { answersTests } from "./channel-end-to-end/answers.js";
import { changesTests } from "./channel-end-to-end/changes.js";
import { filesTests } from "./channel-end-to-end/files.js";
import { messagesTests } from "./channel-end-to-end/messages.js";
import type { OpenHarness } from "./channel-end-to-end/promise.js";

const rooms = [messagesTests, filesTests, changesTests, answersTests];

/** What every channel does for people, from what they write to what they see. */
export function testChannelEndToEnd(name: string, openHarness: OpenHarness): void {
  for (const { title, run } of rooms.flat()) test(`${name}: ${title}`, () => run(openHarness));
}
