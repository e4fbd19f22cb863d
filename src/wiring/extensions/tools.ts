import { z } from "zod";
import { splitMarkdown } from "../../channels/formatting/split.js";
import { ChannelError, ProviderError, StorageError } from "../../errors.js";
import { silentLog } from "../../log.js";
import { channelKit } from "./channel-kit.js";
import type { ExtensionContext } from "./extension.js";

/** What of an extension's context is the same in each gateway, with a log that says nothing. */
export type ExtensionTools = Pick<
  ExtensionContext,
  "z" | "errors" | "defineTool" | "splitMarkdown" | "channelKit" | "log"
>;

/** A module beside the config has no packages of its own. */
export const extensionTools: ExtensionTools = {
  z,
  errors: { ChannelError, ProviderError, StorageError },
  defineTool: (tool) => tool,
  splitMarkdown,
  channelKit,
  log: silentLog,
};
