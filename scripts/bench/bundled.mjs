// The program as a package has it.
import { keepHeapSmall, keepNewObjectsFew } from "../../bin/small-heap.js";

keepNewObjectsFew();
const { start } = await import("../../dist/bundle/start.js");

await start(process.argv.slice(2), keepHeapSmall);
