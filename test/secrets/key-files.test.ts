// A key that is kept in a file: hidden before anything has asked the model with it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { says } from "../support/model-server.ts";
import { formsOf, traceOf } from "./traces.ts";
import { WatchedKeryx } from "./watched-keryx.ts";

const FIRST = "FileKey-Aa11+Bb22/Cc33";
const SECOND = "FileKey-Dd44+Ee55/Ff66";
const keryx = new WatchedKeryx({});
const fileOf = (name: string, key: string) => {
	const file = join(keryx.root, name);
	writeFileSync(file, `${key}\n`, { mode: 0o600 });
	return file;
};
beforeAll(() => keryx.start({ agent: { api_key_file: fileOf("first.key", FIRST) } }));
afterAll(() => keryx.end());

const traces = (secret: string) =>
	[
		...keryx.heard.map(({ text }) => traceOf([secret], text)),
		...keryx.files().map((file) => traceOf([secret], readFileSync(file))),
		traceOf([secret], keryx.printed.join("\n")),
	].filter((trace) => trace !== null);

test("I12: the key in a file is hidden in the first message after a start", async () => {
	await keryx.talk(Object.values(formsOf(FIRST)).join(" ; "), [says("ok")]);
	expect(traces(FIRST)).toEqual([]);
});

test("I12: Keryx's own secret is hidden like any other", async () => {
	const own = readFileSync(join(keryx.home, "operator.secret"), "utf8").trim();
	await keryx.talk(own, [says("ok")]);
	expect(traces(own)).toEqual([]);
});

test("I12: that of a file which the configuration names later is hidden as soon as the configuration is read", async () => {
	const config = JSON.parse(readFileSync(join(keryx.home, "config.yaml"), "utf8"));
	const other = { provider: "openai-compatible", model: "o", base_url: keryx.model.url };
	const failover = [{ ...other, api_key_file: fileOf("second.key", SECOND) }];
	keryx.write({ ...config, agent: { ...config.agent, failover } });
	// Looking at the configuration reads it.
	await keryx.ask("GET", "/api/config");
	await keryx.talk(SECOND, [says("ok")]);
	expect(traces(SECOND)).toEqual([]);
});
