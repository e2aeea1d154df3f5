// `npm run lock`: writes package-lock.json anew. A registry that mirrors only some platforms leaves the binaries of the others
// out of the lock, and `npm ci` then refuses it; they are entered by name and version, which is all that a machine of another
// platform needs to pass them over.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./setup.mjs";

const folder = mkdtempSync(join(tmpdir(), "keryx-lock-"));
try {
	for (const file of ["package.json", ".npmrc"]) copyFileSync(join(root, file), join(folder, file));
	execFileSync("npm", ["install", "--package-lock-only"], { cwd: folder, stdio: "inherit" });
	const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
	for (const { optionalDependencies = {}, dev } of Object.values({ ...lock.packages })) {
		for (const [name, version] of Object.entries(optionalDependencies)) {
			const path = `node_modules/${name}`;
			if (lock.packages[path] || !/^\d/.test(version)) continue;
			lock.packages[path] = { version, ...platformOf(name), ...(dev && { dev }), optional: true };
			console.log(`entered by name only: ${name}@${version}`);
		}
	}
	lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
	writeFileSync(join(root, "package-lock.json"), `${JSON.stringify(lock, null, "\t")}\n`);
} finally {
	rmSync(folder, { recursive: true, force: true });
}

/** `@scope/tool-darwin-arm64` says for which system and processor it is. */
function platformOf(name) {
	const words = name.split(/[-/]/);
	const system = ["android", "darwin", "freebsd", "linux", "openharmony", "win32", "wasm32"].find((os) =>
		words.includes(os),
	);
	const processor = ["arm64", "arm", "x64", "ia32", "ppc64", "riscv64", "s390x", "loong64"].find((cpu) =>
		words.includes(cpu),
	);
	return {
		...(system && system !== "wasm32" && { os: [system] }),
		...(processor && { cpu: [processor] }),
		...(words.includes("musl") && { libc: ["musl"] }),
		...(system === "wasm32" && { cpu: ["wasm32"] }),
	};
}
