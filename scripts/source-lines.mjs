// Has the stack traces of tests name the lines of the sources: `node --import ./scripts/source-lines.mjs`. `--enable-source-maps` reads the
// maps of all files that a test imports; this reads them once a test has failed.
import { showSourceLines } from "../dist/src/cli/source-lines.js";

showSourceLines();
