import type { Shape } from "../bus/replies.js";
import type { Channel } from "../channels/channel.js";

/**
 * How the replies of each channel are cut, also of those that are off: what is queued for them has to fit when they are
 * back. Others than these carry any text whole, or are not known while they are off.
 */
export async function loadShapes(channels: ReadonlyMap<string, Channel>): Promise<ReadonlyMap<string, Shape>> {
  const shapes = new Map<string, Shape>(channels);
  if (!shapes.has("telegram")) {
    const { telegramShape } = await import("../channels/telegram/shape.js");
    shapes.set("telegram", telegramShape);
  }
  if (!shapes.has("discord")) {
    const { discordShape } = await import("../channels/discord/shape.js");
    shapes.set("discord", discordShape);
  }
  return shapes;
}
