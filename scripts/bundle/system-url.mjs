// Instead of whatwg-url, for node-fetch, which prefers the URL of Node and has this for a Node without one. Its table of names
// in other alphabets took 20 ms of each start.
export const { URL } = globalThis;
