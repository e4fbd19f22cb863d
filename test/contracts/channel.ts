import { test } from "node:test";
import { buttonsTests } from "./channel/buttons.js";
import { endingTests } from "./channel/ending.js";
import type { FarSide } from "./channel/far-side.js";
import { receivingTests } from "./channel/receiving.js";
import { sendingTests } from "./channel/sending.js";

const rooms = [receivingTests, endingTests, sendingTests, buttonsTests];

/** What every channel promises. `skip`: why its platform is not there. */
export function testChannelContract(
  name: string,
  openFarSide: () => Promise<FarSide>,
  skip: string | false = false,
): void {
  for (const { title, run } of rooms.flat())
    test(`${name}: ${title}`, { skip }, async () => {
      await using far = await openFarSide();
      await run(far);
    });
}
