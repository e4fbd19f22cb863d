// A package, file or module of Node, by the rules of Node for ESM. The scripts of the bundle import through this one, which is not among them.
exports.toEsm = (specifier) => import(specifier);
