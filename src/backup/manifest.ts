import { z } from "zod";

/** The newest format that this code reads, and the one it writes. */
export const backupVersion = 1;

/** The folder that everything in an archive is in. */
export const archiveRoot = "maxclaw-backup";
export const manifestPath = `${archiveRoot}/manifest.json`;

const file = z.object({ path: z.string(), bytes: z.number(), sha256: z.string() });

export const manifest = z.object({
  format: z.literal("maxclaw-backup"),
  version: z.number(),
  /** The maxclaw that made it. */
  maxclaw: z.string(),
  /** ISO 8601. */
  createdAt: z.string(),
  /** A gateway ran meanwhile. */
  isLive: z.boolean(),
  home: z.string(),
  workspace: z.string(),
  /** The workspace's path from the home, where it lies in it. */
  workspaceInHome: z.string().optional(),
  hasSecrets: z.boolean(),
  /** Variables that are in the config instead of secrets. */
  placeholders: z.array(z.string()),
  files: z.array(file),
  /** Folders and links; absent in archives of before. */
  others: z
    .array(z.object({ path: z.string(), type: z.enum(["folder", "link"]), target: z.string().optional() }))
    .optional(),
  /** What is not in it, each with the reason. */
  leftOut: z.array(z.object({ path: z.string(), why: z.string() })),
});

/** The last entry of an archive: what is in it, so that a truncated or changed one is noticed. */
export type Manifest = z.infer<typeof manifest>;
