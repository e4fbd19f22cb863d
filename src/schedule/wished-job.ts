import { RequestError } from "../errors.js";
import type { Job, JobChange, JobOwner, JobWish } from "./job.js";
import type { Times } from "./times.js";

/** A job as somebody wants it. @throws {RequestError} 400 with a sentence for the person who wrote it */
export function toJob(wish: JobWish, owner: JobOwner, id: string, times: Times, now: number): Job {
  const message = messageIn(wish);
  return {
    id,
    name: nameFor(wish.name?.trim() || message),
    schedule: times.parse(wish, now),
    message,
    owner,
    session: wish.session ?? "chat",
    missed: wish.missed ?? "once",
    enabled: true,
    createdAt: now,
    ...provenanceOf(wish),
  };
}

/** The job with what the wish names; the rest stays. @throws {RequestError} 400 */
export function toChangedJob(job: Job, wish: JobChange, times: Times, now: number): Job {
  const { outside: _, addresses: __, ...before } = job;
  const message = wish.message === undefined ? job.message : messageIn({ message: wish.message });
  const isRenamed = wish.name !== undefined || job.name === nameFor(job.message);
  const schedule = times.change(job.schedule, wish, now);
  return {
    ...(wish.message === undefined ? job : { ...before, ...provenanceOf(wish) }),
    name: isRenamed ? wish.name?.trim() || nameFor(message) : job.name,
    schedule,
    message,
    session: wish.session ?? job.session,
    missed: wish.missed ?? job.missed,
    // What the old schedule left undone is not made up for by the new one.
    ...(schedule === job.schedule ? {} : { lastDue: now }),
  };
}

function nameFor(message: string): string {
  return message.slice(0, 80);
}

function provenanceOf({ outside = [], addresses = [] }: JobChange): Pick<Job, "outside" | "addresses"> {
  return {
    ...(outside.length === 0 ? {} : { outside: [...outside] }),
    ...(addresses.length === 0 ? {} : { addresses: [...addresses] }),
  };
}

function messageIn(wish: Pick<JobWish, "message">): string {
  const message = wish.message.trim();
  if (message === "")
    throw new RequestError("Say what is to be done in `message`.", { status: 400, code: "bad_request" });
  return message;
}
