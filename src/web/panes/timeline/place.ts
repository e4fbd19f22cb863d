import { hashOfPlace } from "../../frame/places/place.js";

/** What the timeline shows: a session's turns, or one turn. Without a session it asks which. */
export interface TimelinePlace {
  readonly key: string;
  readonly turnId: string | undefined;
}

/** The part of the address behind `#/timeline/`. */
export function argumentOf(key: string, turnId?: string): string {
  return turnId === undefined ? key : `${key}/${turnId}`;
}

/** Where the timeline of a session or of one of its turns is: for links. */
export function timelineHash(key: string, turnId?: string): string {
  return hashOfPlace({ kind: "pane", id: "timeline", argument: argumentOf(key, turnId) });
}

export function placeOfArgument(argument: string): TimelinePlace {
  const [, key = "", turnId] = /^(.*?)(?:\/(turn_[0-9A-Za-z_-]+))?$/s.exec(argument) ?? [];
  return { key, turnId };
}
