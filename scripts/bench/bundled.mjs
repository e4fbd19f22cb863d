// The program as a package has it.
import { keepHeapSmall } from "../../bin/small-heap.js";

keepHeapSmall();
const { start } = await import("../../dist/bundle/start.js");

await start(process.argv.slice(2));
