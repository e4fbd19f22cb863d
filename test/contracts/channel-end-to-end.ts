import { test } from "node:test";
import { answersTests } from "./channel-end-to-end/answers.js";
import { changesTests } from "./channel-end-to-end/changes.js";
import { filesTests } from "./channel-end-to-end/files.js";
import { guestsTests } from "./channel-end-to-end/guests.js";
import { messagesTests } from "./channel-end-to-end/messages.js";
import type { OpenHarness } from "./channel-end-to-end/promise.js";

/** What every channel does for people, from what they write to what they see. `carriesFiles`: default true. */
export function testChannelEndToEnd(name: string, openHarness: OpenHarness, { carriesFiles = true } = {}): void {
  const rooms = [messagesTests, carriesFiles ? filesTests : [], changesTests, answersTests, guestsTests];
  for (const { title, run } of rooms.flat()) test(`${name}: ${title}`, () => run(openHarness));
}
