// An event machine: says so in the session's log when a turn calls many tools.
// { "module": "./step-watch.mjs", "options": { "tools": 10 } }

/** @type {import("maxclaw").ExtensionFactory} */
export default ({ options }) => {
  const most = typeof options.tools === "number" ? options.tools : 10;
  return {
    machines: [
      {
        name: "step-watch",
        // Pure: the same inputs give the same outputs, so that a turn can be played again.
        initial: 0,
        step(/** @type {number} */ calls, input) {
          if (input.kind === "turn_started") return [0, []];
          if (input.kind !== "tool_finished") return [calls, []];
          if (calls + 1 !== most) return [calls + 1, []];
          /** @type {import("maxclaw").OutputOf<"error_occurred">} */
          const told = {
            type: "error_occurred",
            payload: {
              code: "MANY_TOOLS",
              category: "runtime",
              message: `This turn has called ${most} tools.`,
              recoverable: true,
              scope: "machine:step-watch",
            },
          };
          return [calls + 1, [told]];
        },
      },
    ],
  };
};
