import { safeSearchPath } from "./files/search-path.js";

/** For a program of the system that the gateway starts: its own variables, and a PATH without places of others. */
export function programEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: safeSearchPath(process.env.PATH, []) };
}
