// However the name of an action is spelt, what is always asked about is asked about.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { onPort, type Ported, SECRET } from "./port.ts";

const SPELLINGS = [
	"Deploy_Production",
	"DEPLOY_PRODUCTION",
	"deploy\u200B_production",
	"deploy_production\u200D",
	"deploy_production\u0000",
	"\uFEFFdeploy\u00AD_production",
	"\u202Edeploy_production",
	"ｄｅｐｌｏｙ_production",
];
const OTHERS = ["deploy production", "d\u0435ploy_production", "deploy/production", "déploy"];

let keryx: Ported;
let agent = "";
beforeAll(async () => {
	keryx = await onPort({ confirmations: { rate_limit: 1000 } });
	agent = await keryx.token("agent");
});
afterAll(() => keryx.close());

const ask = (action: string) =>
	keryx.call("POST", "/confirm", { bearer: agent, body: { action, description: "d" } });
const grant = (action: string) =>
	keryx.call("POST", "/grants", { bearer: SECRET, body: { scope: "always", action } });

describe.each(SPELLINGS)("%j", (spelling) => {
	test("cannot be granted beforehand", async () => {
		const { status, body } = await grant(spelling);
		expect(status).toBe(400);
		expect(body.error).toMatch(/must be confirmed every time/);
	});

	test("is asked about, by a visible name, and cannot be granted with the answer", async () => {
		const { status, body } = await ask(spelling);
		expect(status).toBe(202);
		expect((body.action as string).toLowerCase()).toBe("deploy_production");
		const approved = await keryx.call("POST", `/confirm/${body.id}/approve`, {
			bearer: SECRET,
			body: { grant: { scope: "always" } },
		});
		expect(approved.status).toBe(400);
		await keryx.call("POST", `/confirm/${body.id}/deny`, { bearer: SECRET });
	});

	test("is not covered by a grant that came into the store some other way", async () => {
		for (const action of [spelling, "deploy_production", "Deploy_Production", "DEPLOY_PRODUCTION"])
			await keryx.store.addGrant({ scope: "always", action, by: "somebody", via: "api" });
		expect((await ask(spelling)).status).not.toBe(200);
	});
});

test.each(OTHERS)("%j is no name for an action, and the error says what is", async (action) => {
	for (const { status, body } of [await ask(action), await grant(action)]) {
		expect(status).toBe(400);
		expect(body.error).toBe("action may contain only letters from a to z, digits and _ . : -");
	}
});
