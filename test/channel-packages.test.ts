// Packages of a platform, installed on demand: from a registry of the test's own, by the real npm.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installPackages, loadPackage, missingPackages } from "../src/app/packages.ts";

const TABLE = { fax: { packages: { "fax-modem": "1.2.3" }, megabytes: 1 } };
let folder: string;
let registry: Server;
let env: Record<string, string>;

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), "keryx-packages-"));
	const tarball = packed();
	registry = createServer((request, response) => {
		if (request.url === "/fax-modem") response.end(JSON.stringify(packument(request.headers.host, tarball)));
		else if (request.url === "/fax-modem.tgz") response.end(tarball);
		else response.writeHead(404).end("{}");
	});
	await new Promise<void>((done) => registry.listen(0, "127.0.0.1", done));
	env = {
		PATH: process.env.PATH ?? "",
		HOME: folder,
		npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`,
		npm_config_cache: join(folder, "cache"),
	};
});
afterAll(async () => {
	await new Promise((done) => registry.close(done));
	rmSync(folder, { recursive: true, force: true });
});

/** A package without a way in for `require`, whose install script must not run. */
function packed(): Buffer {
	mkdirSync(join(folder, "package"));
	const manifest = {
		name: "fax-modem",
		version: "1.2.3",
		type: "module",
		exports: { ".": { import: "./main.js" } },
		scripts: { install: `touch ${join(folder, "ran")}` },
	};
	writeFileSync(join(folder, "package", "package.json"), JSON.stringify(manifest));
	writeFileSync(join(folder, "package", "main.js"), 'export const tone = "beep";\n');
	execFileSync("tar", ["-czf", "fax-modem.tgz", "package"], { cwd: folder });
	return readFileSync(join(folder, "fax-modem.tgz"));
}

function packument(host: string | undefined, tarball: Buffer) {
	const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
	const version = {
		name: "fax-modem",
		version: "1.2.3",
		hasInstallScript: true,
		dist: { tarball: `http://${host}/fax-modem.tgz`, integrity },
	};
	return { name: "fax-modem", "dist-tags": { latest: "1.2.3" }, versions: { "1.2.3": version } };
}

test("a platform's packages are installed at their exact version, without their scripts, and loaded from Keryx's home", async () => {
	const home = mkdtempSync(join(folder, "home-"));
	expect(missingPackages("fax", home, TABLE)).toEqual(["fax-modem@1.2.3"]);
	await expect(loadPackage("fax", "fax-modem", home, TABLE)).rejects.toMatchObject({
		code: "channel.packages",
		hint: expect.stringContaining("channels install fax"),
	});
	await installPackages("fax", home, env, TABLE);
	expect(missingPackages("fax", home, TABLE)).toEqual([]);
	expect(await loadPackage("fax", "fax-modem", home, TABLE)).toMatchObject({ tone: "beep" });
	expect(statSync(join(home, "packages")).mode & 0o777).toBe(0o700);
	expect(() => statSync(join(folder, "ran"))).toThrow();
	const other = { fax: { packages: { "fax-modem": "1.2.4" }, megabytes: 1 } };
	expect(missingPackages("fax", home, other)).toEqual(["fax-modem@1.2.4"]);
});

test("what npm cannot fetch is an error that quotes npm", async () => {
	const home = mkdtempSync(join(folder, "home-"));
	const missing = { fax: { packages: { "no-such-modem": "1.0.0" }, megabytes: 1 } };
	await expect(installPackages("fax", home, env, missing)).rejects.toMatchObject({
		code: "channel.packages",
		message: expect.stringContaining("404"),
	});
});

test("a platform that needs none has nothing to install", () => {
	expect(missingPackages("telegram", folder)).toEqual([]);
});
