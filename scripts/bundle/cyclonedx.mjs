import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What the package is made of, in CycloneDX 1.6: what is bundled, and what npm installs beside it. Always the same for the same lock. */
export function cycloneDx(root, { name, version, license, dependencies }, bundled) {
  const { packages: locked } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const installed = Object.keys(dependencies).map((one) => {
    const { version: exact, license: licence, integrity } = locked[`node_modules/${one}`];
    return { ...component({ name: one, version: exact, licence, integrity }), scope: "required" };
  });
  const inside = bundled.map((one) => ({
    ...component(one),
    scope: "required",
    properties: [{ name: "maxclaw:bundled", value: "true" }],
  }));
  // What is both bundled and installed, for its types, is named once.
  const all = [...inside, ...installed.filter(({ purl }) => !inside.some((one) => one.purl === purl))];
  const self = {
    type: "application",
    "bom-ref": `pkg:npm/${name}@${version}`,
    name,
    version,
    purl: `pkg:npm/${name}@${version}`,
    licenses: licencesOf(license),
  };
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: self },
    components: all,
    dependencies: [{ ref: self["bom-ref"], dependsOn: all.map((one) => one["bom-ref"]) }],
  };
}

function component({ name, version, licence, integrity }) {
  const parts = name.split("/");
  const group = parts.length > 1 ? parts[0] : undefined;
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return {
    type: "library",
    "bom-ref": purl,
    ...(group === undefined ? {} : { group }),
    name: parts.at(-1),
    version,
    purl,
    licenses: licencesOf(licence),
    hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex") }],
  };
}

function licencesOf(licence) {
  if (!licence) return [];
  if (/ (?:OR|AND|WITH) /.test(licence)) return [{ expression: licence }];
  return [{ license: { id: licence } }];
}
