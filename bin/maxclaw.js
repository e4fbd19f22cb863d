#!/usr/bin/env node
import { launch } from "../dist/src/cli/launch.js";

await launch(process.argv.slice(2));
