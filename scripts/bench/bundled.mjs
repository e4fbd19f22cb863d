// The program as a package has it.
import { start } from "../../dist/bundle/start.js";

await start(process.argv.slice(2));
