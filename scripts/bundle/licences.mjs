const line = "-".repeat(80);

/** The texts that come with the packages in the bundle, as their licences ask for. */
export function licenceTexts(packages) {
  const parts = packages.map(({ name, version, licence, author, homepage, texts }) => {
    if (texts.length === 0 && licence === "") throw new Error(`${name} ${version} is bundled, but has no licence`);
    const head = [
      `${name} ${version}`,
      `Licence: ${licence || "see below"}`,
      ...(author ? [`By: ${author}`] : []),
      ...(homepage ? [homepage] : []),
    ];
    return [
      line,
      ...head,
      "",
      ...(texts.length > 0 ? texts : ["The package has no file with the text of its licence."]),
    ].join("\n");
  });
  return `The program and its page contain code of these packages.\n\n${parts.join("\n\n")}\n`;
}
