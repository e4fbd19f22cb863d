#!/usr/bin/env node
// In a checkout what the compiler has made of the sources; in a package the bundle of it.
import { existsSync } from "node:fs";

const built = new URL("../dist/", import.meta.url);
const compiled = new URL("src/cli/start.js", built);
const { start } = await import(existsSync(compiled) ? compiled : new URL("bundle/start.js", built));

await start(process.argv.slice(2));
