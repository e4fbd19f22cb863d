import type { ExtensionTools } from "./tools.js";

/** What an extension gets besides what is of its gateway: for its tests. */
export async function loadExtensionTools(): Promise<ExtensionTools> {
  return (await import("./tools.js")).extensionTools;
}
