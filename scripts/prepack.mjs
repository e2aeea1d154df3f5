// Before the package is made: everything is built, and says which commit it was built from and what it is made of.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { prepare, root } from "./setup.mjs";

const { node, env } = await prepare();
const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
writeFileSync(join(root, "dist", "commit.txt"), `${commit}\n`);
execFileSync(node, [join(root, "scripts", "sbom.mjs")], { cwd: root, env, stdio: "inherit" });
