// Loaded into each process of tests by scripts/run-tests.mjs: says first which file it runs. The runner names of a test only the file
// that calls `test` for it, which may be one that many tests share.
import { fileMark } from "./second-tries.mjs";

if (process.env.NODE_TEST_CONTEXT !== undefined) process.stdout.write(`${fileMark}${process.argv[1]}\n`);
