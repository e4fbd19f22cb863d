import { join } from "node:path";
import type { ConversationSearch } from "../../sessions/search/search.js";
import { SearchIndex } from "../../sessions/search/search-index.js";
import type { Releases } from "../../util/async/releases.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";

/** The search in all conversations. What is deleted leaves it as well. */
export function openSearch({ home, log }: GatewayOptions, core: Core, releases: Releases): ConversationSearch {
  const search = releases.use(
    new SearchIndex({
      engine: core.engine,
      bus: core.events,
      sessions: core.sessions,
      path: join(home, "search", "messages.txt"),
      log,
    }),
  );
  core.lives.onLeave("search", (key) => search.forget(key));
  return search;
}
