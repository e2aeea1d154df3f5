// Loads whatever a command may load, so that it is kept compiled before hundreds start it.
import { COMMANDS } from "../../src/cli/program.ts";

await Promise.all([import("../../src/app/host.ts"), ...COMMANDS.map(({ load }) => load())]);
