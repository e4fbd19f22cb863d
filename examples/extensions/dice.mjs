// A tool: rolls dice.  { "module": "./dice.mjs", "options": { "sides": 20 } }

/** @type {import("maxclaw").ExtensionFactory} */
export default ({ z, options, defineTool }) => {
  const { sides } = z.object({ sides: z.int().min(1).default(6) }).parse(options);
  return {
    tools: [
      defineTool({
        name: "roll_dice",
        description: "Roll dice.",
        input: z.object({ count: z.int().min(1).max(100) }),
        // It harms nothing, so nobody has to be asked; without this line each call would ask.
        risk: "none",
        effect: "write",
        async run({ count }) {
          const rolls = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * sides));
          const text = `${rolls.join(", ")} (${sides} sides each)`;
          return { text, isError: false, summary: `rolled ${count} dice` };
        },
      }),
    ],
  };
};
