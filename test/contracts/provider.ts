import { abortsTests } from "./provider/aborts.js";
import { answersTests } from "./provider/answers.js";
import type { WireUnderTest } from "./provider/calls.js";
import { failuresTests } from "./provider/failures.js";
import { imagesTests } from "./provider/images.js";
import { limitsTests } from "./provider/limits.js";
import { adjustmentsTests, headersTests } from "./provider/requests.js";

const rooms = [answersTests, abortsTests, failuresTests, limitsTests, imagesTests, headersTests, adjustmentsTests];

/** What every provider behind an HTTP address promises. */
export function providerContract(name: string, wire: WireUnderTest): void {
  for (const addTests of rooms) addTests(name, wire);
}
