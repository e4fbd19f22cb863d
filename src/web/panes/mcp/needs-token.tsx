import { readDevices } from "../devices/devices-http.js";
import { useLoad } from "../parts/loading.js";
import type { PaneWorld } from "../world.js";
import { mcpWords } from "./words.js";

/** Says before anybody types that nothing can be changed here. */
export function NeedsToken({ world }: { readonly world: PaneWorld }) {
  const known = useLoad(world, () => readDevices(world.api), []);
  if (known.value === undefined || known.value.needsToken) return undefined;
  return <p class="note warning">{mcpWords.t("needsToken")}</p>;
}
