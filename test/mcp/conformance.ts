// The official conformance program for servers of MCP. It speaks HTTP alone, and shows no token.
import { execFile } from "node:child_process";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";

const PROGRAM = join(
	import.meta.dirname,
	"../../node_modules/@modelcontextprotocol/conformance/dist/index.js",
);

/** Against what the relay leads to. */
export async function expectConforming(relay: Server, scenario: string): Promise<void> {
	const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/mcp`;
	const { stdout } = await promisify(execFile)(process.execPath, [
		PROGRAM,
		"server",
		"--url",
		url,
		"--scenario",
		scenario,
	]).catch((error: { stdout?: string; stderr?: string }) => {
		throw new Error(`${error.stdout ?? ""}${error.stderr ?? ""}`);
	});
	expect(stdout).toMatch(/Passed: [1-9]/);
}
