import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { actionName, foldedAction } from "./action-name.ts";

describe("the name of an action", () => {
	for (const [what, text] of [
		["as it is", "deploy_production"],
		["blanks around it", "  deploy_production \n"],
		["a zero-width space", "deploy\u200B_production"],
		["a zero-width joiner at the end", "deploy_production\u200D"],
		["a byte order mark", "\uFEFFdeploy_production"],
		["a soft hyphen", "deploy\u00AD_production"],
		["NUL", "deploy_production\u0000"],
		["NUL within", "deploy\u0000_production"],
		["an escape", "deploy\u001B_production"],
		["a turn of direction", "\u202Edeploy_production\u202C"],
		["a variation selector", "deploy\uFE0F_production"],
		["a tag character", "deploy\u{E0061}_production"],
		["a character for private use", "deploy\uE000_production"],
		["wide letters", "ｄｅｐｌｏｙ＿production"],
		["mathematical letters", "𝐝eploy_production"],
	] as const)
		test(`with ${what} is the one that it looks like`, () => {
			expect(actionName(text)).toBe("deploy_production");
		});

	test("keeps its case, and is the same action in any", () => {
		expect(actionName("Deploy_Production")).toBe("Deploy_Production");
		expect(foldedAction("Deploy_\u200BPRODUCTION")).toBe("deploy_production");
	});

	for (const [what, text] of [
		["a blank within", "deploy production"],
		["a wide blank within", "deploy\u3000production"],
		["a letter of another script", "dеploy_production"],
		["an accent", "déploy_production"],
		["a slash", "deploy/production"],
		["nothing but invisible characters", "\u200B\u0000"],
	] as const)
		test(`with ${what} is none`, () => {
			expect(actionName(text)).toBeNull();
		});

	test("is in the alphabet or none, and stays the same when it is read again", () => {
		const unit = fc.oneof(
			fc.constantFrom(..."aZ_.:-09", "\u200B", "\u0000", "ｄ", " "),
			fc.string({ unit: "binary" }),
		);
		fc.assert(
			fc.property(fc.array(unit, { maxLength: 12 }), (parts) => {
				const name = actionName(parts.join(""));
				if (name === null) return;
				expect(name).toMatch(/^[A-Za-z0-9_.:-]+$/);
				expect(actionName(name)).toBe(name);
			}),
			{ seed: 15 },
		);
	});
});
