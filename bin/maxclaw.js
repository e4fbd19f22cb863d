#!/usr/bin/env node
import { existsSync } from "node:fs";
import { keepHeapSmall, startLean } from "./small-heap.js";

startLean();
// In a checkout what the compiler has made of the sources; in a package the bundle of it.
const built = new URL("../dist/", import.meta.url);
const compiled = new URL("src/cli/start/from-files.js", built);
const { start } = await import(existsSync(compiled) ? compiled : new URL("bundle/start.js", built));

await start(process.argv.slice(2), keepHeapSmall);
