#!/usr/bin/env node
// Checks the Node version before anything is imported: on an older one a native module would crash without a word. Then it runs the
// version of Keryx that the last update chose, or this one.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) await import("./old-node.mjs");
else await import("./launch.mjs");
