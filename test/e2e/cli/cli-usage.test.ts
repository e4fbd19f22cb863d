import assert from "node:assert/strict";
import { it } from "node:test";
import { openCli } from "../../support/worlds/cli.js";
import { startCliGateway, withModel } from "../../support/worlds/cli-gateway.js";

for (const isRunning of [true, false])
  it(`maxclaw usage shows days, models and budgets ${isRunning ? "of the gateway that runs" : "when none runs"}`, async () => {
    await using cli = await openCli();
    const agents = { defaults: { model: "openai/test-model", timezone: "UTC" } };
    const budgets = { day: { usd: 5 }, sender: { turns: 9 } };
    const prices = { "test-model": { input: 1, output: 4, cacheRead: 0 } };
    const usage = { input: 20_000, output: 5000, cacheRead: 1234 };
    await using _model = await withModel(cli, { text: "Noted.", usage }, { agents, budgets, prices });
    if (isRunning) await startCliGateway(cli);
    assert.match((await cli.run(["usage", "--days", "1"])).stdout, /^Nothing was used in the last day \(UTC\)\.$/m);
    await cli.run(["agent", "-m", "hello"]);
    await cli.run(["agent", "-m", "hello again"]);

    const { code, stdout } = await cli.run(["usage"]);
    assert.equal(code, 0);
    const numbers = "+2 +42,468 +2,468 +10,000 +\\$0\\.08";
    assert.match(stdout, /^Day +Turns +Answers +Read +From cache +Written +Cost$/m);
    assert.match(stdout, new RegExp(`^\\d{4}-\\d\\d-\\d\\d +2 ${numbers}$`, "m"));
    assert.match(stdout, new RegExp(`^Total +2 ${numbers}$`, "m"));
    assert.match(stdout, new RegExp(`^openai/test-model ${numbers}$`, "m"));
    assert.match(stdout, /^day +\$0\.08 +\$5\.00$/m);
    assert.match(stdout, /^sender cli:owner +2 turns +9 turns$/m);

    const report = JSON.parse((await cli.run(["usage", "--json", "--days", "30"])).stdout);
    assert.deepEqual(report.total, {
      turns: 2,
      calls: 2,
      unpricedCalls: 0,
      usage: { input_tokens: 40_000, output_tokens: 10_000, cache_read_tokens: 2468, cache_write_tokens: 0 },
      guessedTokens: 0,
      guessedUsd: 0,
      costUsd: 0.08,
    });
    assert.deepEqual(
      report.days[0].senders.map(({ sender, turns }: { sender: string; turns: number }) => [sender, turns]),
      [["cli:owner", 2]],
    );
    const wrong = await cli.run(["usage", "--days", "0"]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /1 to 400 days/);
  });

it("maxclaw usage names no amount where a part has no price and the rest was free", async () => {
  await using cli = await openCli();
  const agents = { defaults: { model: "openai/free", timezone: "UTC" } };
  const prices = { free: { input: 0, output: 0 } };
  const more = { agents, prices, budgets: { day: { usd: 5 } } };
  await using _model = await withModel(cli, { text: "Noted.", usage: { input: 200, output: 50 } }, more);
  await cli.run(["agent", "-m", "hello"]);
  assert.match((await cli.run(["usage"])).stdout, /^Total .* \$0$/m, "nobody has to pay for it");
  await cli.run(["config", "set", "agents.defaults.model", "openai/of-nobody"]);
  await cli.run(["agent", "-m", "hello"]);
  const { stdout } = await cli.run(["usage"]);
  assert.match(stdout, /^Total .* unknown$/m);
  assert.match(stdout, /^openai\/free .* \$0$/m);
  assert.match(stdout, /^openai\/of-nobody .* unknown$/m);
  assert.match(stdout, /^No price is known for 1 of 2 answers: .* Until then budgets in dollars do not count them\.$/m);
});
