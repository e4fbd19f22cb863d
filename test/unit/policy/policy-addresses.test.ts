import assert from "node:assert/strict";
import { test } from "node:test";
import { createAddressPolicy } from "../../../src/policy/locations/addresses.js";
import { createEgress, EgressError } from "../../../src/policy/locations/egress.js";
import { portOf, toWebAddress } from "../../../src/tools/web/request.js";
import { isPublic } from "../../../src/util/network/public-address.js";

/** Written down once more, with the first and last address of each network and its public neighbours. */
const closed: readonly string[] = [
  ...["0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1"],
  ...["127.255.255.254", "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.170", "192.0.2.1"],
  ...["192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9"],
  ...["224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"],
  ...["::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254", "::ffff:10.0.0.1"],
  ...["64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001::1"],
  ...["2001:db8::1", "3fff::1", "fc00::1", "fd12:3456::1", "fdff::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1"],
  ...["100::1", "fd00:ec2::254", "5f00::1", "::ffff:0:127.0.0.1"],
  ...["", "example.org", "1.2.3", "1.2.3.4.5", "0x7f.1", "1.2.3.4 "],
];
const open: readonly string[] = [
  ...["1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"],
  ...["169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.255.255", "192.169.0.0"],
  ...["198.17.255.255", "198.20.0.0", "223.255.255.255"],
  ...["2606:4700:4700::1111", "2a00:1450:4001::200e", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2001:4860:4860::8888"],
];

test("only what everybody on the internet can reach is public", () => {
  for (const address of closed) assert.equal(isPublic(address), false, address);
  for (const address of open) assert.equal(isPublic(address), true, address);
});

test("every notation of an address in a URL is judged by where it leads", async () => {
  const egress = createEgress(createAddressPolicy([]), async (host) => {
    const found = {
      "localhost.": "127.0.0.1",
      localhost: "127.0.0.1",
      "evil.example": "10.0.0.1",
      "six.example": "::1",
    }[host];
    if (found === undefined) throw new Error("no such host");
    return [{ address: found, family: found.includes(":") ? 6 : 4 }];
  });
  const tricks = [
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.1/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://0x7f.0.0.1/",
    "http://0x7f000001/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://0/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://evil.example/",
    "http://six.example/",
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
  ];
  for (const trick of tricks) {
    const url = toWebAddress(trick);
    await assert.rejects(egress.resolve(url.hostname, portOf(url)), EgressError, trick);
  }
  for (const wrong of [
    "ftp://1.1.1.1/",
    "file:///etc/passwd",
    "http://user:pass@1.1.1.1/",
    "gopher://x/",
    "javascript:1",
    "x",
  ])
    assert.throws(() => toWebAddress(wrong), EgressError, wrong);
});

test("of several addresses only the public ones are given out", async () => {
  const egress = createEgress(createAddressPolicy([]), async () => [
    { address: "10.0.0.1", family: 4 },
    { address: "1.1.1.1", family: 4 },
    { address: "::1", family: 6 },
  ]);
  assert.deepEqual(await egress.resolve("mixed.example", 443), [{ address: "1.1.1.1", family: 4 }]);
});

test("the allow-list opens what it names and nothing else", () => {
  const cases: readonly [entry: string, host: string, port: number, address: string, isOpen: boolean][] = [
    ["127.0.0.1:8080", "127.0.0.1", 8080, "127.0.0.1", true],
    ["127.0.0.1:8080", "127.0.0.1", 8081, "127.0.0.1", false],
    ["127.0.0.1", "localhost", 5, "127.0.0.1", true],
    ["127.0.0.1", "x", 5, "127.0.0.2", false],
    ["192.168.1.0/24", "nas", 80, "192.168.1.77", true],
    ["192.168.1.0/24", "nas", 80, "192.168.2.77", false],
    ["[::1]:80", "[::1]", 80, "::1", true],
    ["::1", "x", 9, "::1", true],
    ["fd00::/8", "x", 9, "fd12::1", true],
    ["nas.local", "NAS.local.", 80, "192.168.1.5", true],
    ["nas.local", "nas.local.evil.example", 80, "192.168.1.5", false],
    ["*.lan", "printer.lan", 80, "10.0.0.7", true],
    ["*.lan", "evil-lan", 80, "10.0.0.7", false],
    ["localhost:3000", "localhost", 3000, "127.0.0.1", true],
    ["localhost:3000", "other", 3000, "127.0.0.1", false],
  ];
  for (const [entry, host, port, address, isOpen] of cases) {
    const policy = createAddressPolicy([entry]);
    assert.deepEqual(policy.problems, []);
    const what = `${entry}: ${host}:${port} at ${address}`;
    assert.equal(policy.refusalOf({ host, port, address }) === undefined, isOpen, what);
  }
  for (const wrong of ["", "http://x", "1.2.3.4/99", "a b", "*", "x:y:z"])
    assert.equal(createAddressPolicy([wrong]).problems.length, 1, wrong);
});
