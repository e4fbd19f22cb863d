import { isLoopback } from "../../util/loopback.js";
import { whatToAdd } from "../../util/packages/missing.js";
import { findingSentence } from "../../util/words/finding-sentences.js";
import { problemSentence } from "../../util/words/problem-sentences.js";
import type { Platform } from "../platform.js";
import { type MatrixSection, matrix, matrixLabels, matrixMeanings } from "./section.js";
import { matrixImports, matrixSetUp, personId } from "./set-up.js";

export const matrixPlatform: Platform<MatrixSection> = {
  words: { title: { en: "Matrix", zh: "Matrix" }, labels: matrixLabels, meanings: matrixMeanings },

  section: matrix,

  guarded: ["homeserver"],

  lacks({ homeserver, accessToken, userId, password }) {
    if (homeserver === undefined) return problemSentence("channel_lacks", { name: "matrix", missing: "homeserver" });
    if (accessToken !== undefined || (userId !== undefined && password !== undefined)) return undefined;
    return problemSentence("channel_lacks", {
      name: "matrix",
      missing: "accessToken, and not both userId and password",
    });
  },

  readsLists: true,

  shape: async () => (await import("./shape.js")).matrixShape,

  async open(section, { context, home, isShared, log }) {
    const { homeserver, accessToken, userId, password, invites, recoveryKey } = section;
    if (homeserver === undefined) return {};
    if (section.encryption && isShared === true)
      return { off: "channels.matrix.encryption does not work with several gateways: each would have keys of its own" };
    const { MatrixChannel } = await import("./matrix.js");
    const takesAll = invites === "everyone";
    const missing = section.encryption ? whatToAdd("matrix-crypto", home) : undefined;
    // What is written in encrypted rooms meanwhile comes later.
    if (missing !== undefined) return { off: `channels.matrix.encryption is on, and ${missing}` };
    const library = section.encryption ? await (await import("./crypto/library.js")).loadCrypto(home) : undefined;
    const encryption = library === undefined ? undefined : { library, recoveryKey };
    const credentials = { homeserver, accessToken, userId, password };
    return {
      channel: new MatrixChannel({ ...credentials, takesAll, encryption, log }, context),
      problems: strangeIds(section).map((id) => foundStrange(id)),
    };
  },

  async logIn({ homeserver = "", accessToken, userId, password }, _scope, signal) {
    const { logIn } = await import("./log-in.js");
    return await logIn({ homeserver, accessToken, userId, password }, signal);
  },

  checkup: {
    unshared: ({ homeserver, accessToken, userId }) => ({
      accessToken,
      userId: userId && `${userId} at ${homeserver}`,
    }),
    risks: (section) => [
      ...strangeIds(section).map((id) => ({
        about: "people" as const,
        level: "warn" as const,
        found: foundStrange(id),
        todo: findingSentence("strange_id_todo"),
      })),
      ...(section.homeserver?.startsWith("http://") === true && !isNear(section.homeserver)
        ? [
            {
              about: "access" as const,
              level: "fail" as const,
              found: findingSentence("homeserver_open", { name: "matrix" }),
              todo: findingSentence("homeserver_open_todo"),
            },
          ]
        : []),
    ],
  },

  setUp: matrixSetUp,

  imports: matrixImports,
};

function foundStrange(id: string): string {
  return findingSentence("strange_id", { name: "matrix", id, title: "Matrix" });
}

function strangeIds({ allowFrom }: Pick<MatrixSection, "allowFrom">): readonly string[] {
  return allowFrom.filter((id) => id !== "*" && !personId.test(id));
}

/** On this machine, where nobody reads along. */
function isNear(address: string): boolean {
  return URL.canParse(address) && isLoopback(new URL(address).hostname);
}
