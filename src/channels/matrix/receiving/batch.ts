import { z } from "zod";
import type { DeviceNews } from "../crypto/encryption.js";
import { eventsIn, type MatrixEvent } from "../event.js";
import { roomTypes } from "./history.js";

const list = z.looseObject({ events: z.array(z.unknown()).optional().catch(undefined) });
const rooms = z.record(z.string(), z.unknown()).optional().catch(undefined);

const texts = z.array(z.string()).optional().catch(undefined);

const batch = z.looseObject({
  next_batch: z.string().min(1),
  to_device: list.optional().catch(undefined),
  device_lists: z.looseObject({ changed: texts, left: texts }).optional().catch(undefined),
  device_one_time_keys_count: z.record(z.string(), z.number()).optional().catch(undefined),
  device_unused_fallback_key_types: texts,
  rooms: z.looseObject({ join: rooms, invite: rooms, leave: rooms }).optional().catch(undefined),
});

const joined = z.looseObject({
  state: list.optional().catch(undefined),
  timeline: list
    .extend({ limited: z.boolean().optional().catch(undefined), prev_batch: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

const invited = z.looseObject({ invite_state: list.optional().catch(undefined) });
const invitation = z.looseObject({
  type: z.literal("m.room.member"),
  sender: z.string().startsWith("@"),
  state_key: z.string(),
  content: z.looseObject({ membership: z.literal("invite") }),
});

/** What one answer of `/sync` tells about a room that the bot is in. */
export interface RoomBatch {
  readonly roomId: string;
  readonly state: readonly MatrixEvent[];
  readonly events: readonly MatrixEvent[];
  /** Something is missing before its events; it is read from here. */
  readonly gapFrom: string | undefined;
}

/** One answer of `/sync`. https://spec.matrix.org/latest/client-server-api/#syncing */
export interface SyncBatch {
  readonly next: string;
  readonly joined: readonly RoomBatch[];
  readonly invited: readonly { readonly roomId: string; readonly by: string }[];
  readonly left: readonly string[];
  /** For the keys of the bot's device. */
  readonly device: DeviceNews;
}

/** Undefined for what is not an answer of `/sync`. */
export function parseBatch(data: unknown, botId: string): SyncBatch | undefined {
  const { data: found } = batch.safeParse(data);
  if (found === undefined) return undefined;
  const { join = {}, invite = {}, leave = {} } = found.rooms ?? {};
  return {
    next: found.next_batch,
    joined: Object.entries(join).flatMap(([roomId, room]) => toRoom(roomId, room) ?? []),
    invited: Object.entries(invite).flatMap(([roomId, room]) => {
      const events = invited.safeParse(room).data?.invite_state?.events ?? [];
      const own = events.flatMap((one) => invitation.safeParse(one).data ?? []).find((one) => one.state_key === botId);
      return own === undefined ? [] : [{ roomId, by: own.sender }];
    }),
    left: Object.keys(leave),
    device: {
      toDevice: found.to_device?.events ?? [],
      changed: found.device_lists?.changed ?? [],
      left: found.device_lists?.left ?? [],
      keyCounts: found.device_one_time_keys_count,
      unusedFallbacks: found.device_unused_fallback_key_types,
    },
  };
}

function toRoom(roomId: string, data: unknown): RoomBatch | undefined {
  const { data: room } = joined.safeParse(data);
  if (room === undefined) return undefined;
  const { timeline, state } = room;
  const gapFrom = timeline?.limited === true ? timeline.prev_batch : undefined;
  return { roomId, state: eventsIn(state?.events), events: eventsIn(timeline?.events), gapFrom };
}

/** What `/sync` is asked for: messages and what happens to them, and who is meant by their authors. */
export function syncFilter(timelineLimit: number): string {
  const nothing = { types: [] };
  return JSON.stringify({
    presence: nothing,
    account_data: nothing,
    room: {
      account_data: nothing,
      ephemeral: nothing,
      state: {
        types: ["m.room.member", "m.room.encryption", "m.room.tombstone"],
        lazy_load_members: true,
        // Names are kept in memory alone.
        include_redundant_members: true,
      },
      timeline: { types: roomTypes, limit: timelineLimit, lazy_load_members: true },
    },
  });
}
