import { z } from "zod";

/** One session in the list of sessions, as it is stored: what is told about it, and where it is. */
export const sessionLine = z.object({
  key: z.string(),
  /** The document's file, also where the document is elsewhere: it tells the name of the session's log. */
  file: z.string(),
  title: z.string().optional(),
  summary: z.string().optional(),
  messageCount: z.number(),
  lastMessageAt: z.string().optional(),
  lastMessage: z.string().optional(),
  /** The document shows the log up to here. Absent in documents that others wrote. */
  lastSequence: z.number().optional(),
});
export type SessionLine = z.infer<typeof sessionLine>;

/** Looks, and copies nothing: there may be a line for each of 100,000 sessions. */
export function isSessionLine(value: unknown): value is SessionLine {
  return sessionLine.safeParse(value).success;
}
