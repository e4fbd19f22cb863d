// What the conformance suite starts for each scenario: `client.js <address of the test> <address of the server>`. The test itself is the
// client: it has the program loaded already.
const [test = "", server = ""] = process.argv.slice(2);
const body = JSON.stringify({ server, given: process.env.MCP_CONFORMANCE_CONTEXT });
const answer = await fetch(test, { method: "POST", body });
process.stderr.write(await answer.text());
process.exitCode = answer.status === 200 ? 0 : 1;
