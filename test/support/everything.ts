// Loads everything a command may load, so that it is in the compile cache before hundreds of tests start it.
import { COMMANDS } from "../../src/cli/program.ts";

await Promise.all([import("../../src/app/host.ts"), ...COMMANDS.map(({ load }) => load())]);
