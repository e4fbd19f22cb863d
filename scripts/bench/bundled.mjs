// The program as a package has it.
import { keepHeapSmall, startLean } from "../../bin/small-heap.js";

startLean();
const { start } = await import("../../dist/bundle/start.js");

await start(process.argv.slice(2), keepHeapSmall);
